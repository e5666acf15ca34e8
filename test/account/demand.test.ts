// A second factor that the operator or a request demands: users set it up during the sign-in.
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { describe, expect, test } from 'vitest'
import { hiddenFields, type Page, unescapeHtml } from '../authorization/browser.ts'
import { redirectUri, request } from '../authorization/parties.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { codeAt, codesIn, encryptionSecrets, secretIn } from './factors.ts'
import { type AccountSetUp, accountUri, issuer, linksTo, setUpAccount } from './parties.ts'
import { addUri, optionsIn } from './passkeys.ts'

async function setUpDemand(account: AccountSetUp['account'] = { requireSecondFactor: true }) {
  const stored = storedSecondFactors({ encryptionSecrets })
  const passkeys = storedPasskeys()
  const f = await setUpAccount({
    signIn: { secondFactors: stored.factors, passkeys },
    account: { secondFactors: stored.account, passkeys, ...account },
  })
  /** Begins a request of a client, and signs in with the password. */
  async function start(more: Readonly<Record<string, string>> = {}) {
    const browser = f.browser()
    const page = await browser.open(`${issuer}/connect/authorize?${new URLSearchParams({ ...request, ...more })}`)
    return { browser, page: await f.enter(browser, page) }
  }
  return { ...f, start }
}

const nextIn = ({ html }: Page): string => unescapeHtml(/id="done" href="([^"]*)"/u.exec(html)?.[1] ?? '')

describe('a demanded second factor', () => {
  test('20.47 is set up during the sign-in, which then continues', async () => {
    const { start, send, clock } = await setUpDemand()
    const { browser, page } = await start()
    expect(page.url.href).toContain(`${accountUri}/otp/set-up/`)
    const codes = await send(browser, page, { code: codeAt(secretIn(page), clock.now()) })
    expect(codesIn(codes)).toHaveLength(10)
    const consent = await browser.open(nextIn(codes))
    expect(consent.html).toContain('requests access')
    const done = await browser.submit(`${issuer}/connect/consent`, { ...hiddenFields(consent), decision: 'allow' })
    expect(done.url.href).toContain(`${redirectUri}?code=`)
  })

  test('is not demanded again of a user who has proved it', async () => {
    const { start, send, clock, enter, browser: newBrowser } = await setUpDemand()
    const { browser, page } = await start()
    const secret = secretIn(page)
    await send(browser, page, { code: codeAt(secret, clock.now()) })
    clock.advance(30)
    const secondBrowser = newBrowser()
    const asked = await enter(
      secondBrowser,
      await secondBrowser.open(`${issuer}/connect/authorize?${new URLSearchParams(request)}`),
    )
    const fields = { ...hiddenFields(asked), code: codeAt(secret, clock.now()) }
    expect((await secondBrowser.submit(`${issuer}/connect/secondfactor`, fields)).html).toContain('requests access')
  })

  test('by acr_values only, is demanded of requests with such a value', async () => {
    const { start } = await setUpDemand({ secondFactorAcrValues: ['mfa'] })
    expect((await start()).page.html).toContain('requests access')
    expect((await start({ acr_values: 'pwd mfa' })).page.url.href).toContain('/otp/set-up/')
  })

  test('cannot be removed if it is the last one', async () => {
    const { start, send, clock } = await setUpDemand()
    const { browser, page } = await start()
    await send(browser, page, { code: codeAt(secretIn(page), clock.now()) })
    const refused = await send(browser, await browser.open(`${accountUri}/otp/remove`))
    expect(refused.html).toContain('Your account needs a second factor')
    const add = await browser.open(addUri)
    await send(browser, add, { credential: createAuthenticator().register(optionsIn(add).challenge) })
    const removed = await send(browser, await browser.open(`${accountUri}/otp/remove`))
    expect(removed.html).toContain('The authenticator app is removed')
    const [last = ''] = linksTo(removed, 'passkeys/').filter((url) => url.endsWith('/remove'))
    expect((await send(browser, await browser.open(last))).html).toContain('Your account needs a second factor')
  })

  // Otherwise, the password alone would be enough to add a factor beside the passkey.
  test.each<[string, AccountSetUp['account'], Readonly<Record<string, string>>]>([
    ['the operator', { requireSecondFactor: true }, {}],
    ['a request', { secondFactorAcrValues: ['mfa'] }, { acr_values: 'mfa' }],
  ])('by %s is not set up by the password of a user who has a passkey', async (_, account, parameters) => {
    const { start, signedIn, send } = await setUpDemand(account)
    const { browser: alice } = await signedIn()
    const add = await alice.open(addUri)
    await send(alice, add, { credential: createAuthenticator().register(optionsIn(add).challenge) })
    const { browser, page } = await start(parameters)
    expect(page.html).toContain('name="password"')
    expect(page.url.searchParams.get('state')).toMatch(/^resume\//u)
    // On the page of the account neither.
    for (const path of ['otp/set-up', 'passkeys/add', 'sessions/end-others']) {
      expect((await browser.open(`${accountUri}/${path}`)).html).toContain('name="password"')
    }
  })

  test('requires that users can set one up', async () => {
    await expect(setUpAccount({ account: { requireSecondFactor: true } })).rejects.toThrow('require secondFactors')
  })
})
