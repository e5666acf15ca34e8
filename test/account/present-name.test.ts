// Passkeys and sessions keep the name that a user had when they began. What users see is the present one.
import { createSelfServicePages } from '@grantry/pages/self-service'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { selfService } from '@grantry/plugins/self-service'
import { expect, test } from 'vitest'
import { hiddenFields } from '../authorization/browser.ts'
import { aliceAccount, memoryAccounts } from '../self-service/parties.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { accountUri, issuer, setUpAccount } from './parties.ts'
import { challengeIn, optionsIn } from './passkeys.ts'

async function setUp() {
  const { store, authenticate } = memoryAccounts([aliceAccount])
  const mailer = { send: () => {} }
  const passkeys = storedPasskeys()
  const way = selfService({
    store,
    mailer,
    pages: createSelfServicePages({ host: 'id.example.com' }),
  })
  const f = await setUpAccount({
    signIn: { passkeys, ways: [way] },
    account: { passkeys, accounts: store, mailer },
    provider: { users: { authenticate, claims: () => ({}) } },
  })
  const device = createAuthenticator()
  const { browser } = await f.signedIn()
  const page = await browser.open(`${accountUri}/passkeys/add`)
  await f.send(browser, page, { credential: device.register(optionsIn(page).challenge), name: 'Laptop' })
  async function byPasskey() {
    const newBrowser = f.browser()
    const login = await newBrowser.open(accountUri)
    const credential = device.respond(challengeIn(login))
    const fields = { ...hiddenFields(login), credential }
    return { browser: newBrowser, page: await newBrowser.submit(`${issuer}/connect/signin`, fields) }
  }
  return { store, browser, byPasskey }
}

test('the account page shows the present name of a user, also in a session that began with another one', async () => {
  const { browser, store } = await setUp()
  await store.change('alice', { username: 'alice.new' })
  const { html } = await browser.open(accountUri)
  expect(html).toContain('Signed in as alice.new<')
  expect(html).not.toContain('Signed in as alice<')
})

test.each(['alice\u200B', '\uFEFF alice', '\u200Ealice\u00A0'])(
  '%j is shown without invisible characters',
  async (typed) => {
    const f = await setUpAccount({
      provider: { users: { authenticate: () => ({ sub: 'alice' }), claims: () => ({}) } },
    })
    const visitor = f.browser()
    const { html } = await f.enter(visitor, await visitor.open(accountUri), typed, 'x')
    expect(html).toContain('Signed in as alice<')
  },
)

test('a sign-in with a passkey has the present name of the user, on every page', async () => {
  const { store, byPasskey } = await setUp()
  expect((await byPasskey()).page.html).toContain('Signed in as alice<')
  await store.change('alice', { username: 'alice.new' })
  const { browser, page } = await byPasskey()
  expect(page.html).toContain('Signed in as alice.new<')
  // Made with the name of the session.
  const { user } = optionsIn(await browser.open(`${accountUri}/passkeys/add`))
  expect(user.name).toBe('alice.new')
})
