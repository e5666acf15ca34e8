// Each change on the page of the account is an event, and a mail to the verified address of the user.
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { upstream } from '@grantry/plugins/upstream'
import { expect, test } from 'vitest'
import type { Page } from '../authorization/browser.ts'
import { memoryAccounts } from '../self-service/parties.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { createOpenIdDouble, realNow } from '../upstream/openid-double.ts'
import { acmeOf } from '../upstream/parties.ts'
import { codeAt, codesUri, encryptionSecrets, secretIn, setUpUri } from './factors.ts'
import { accountUri, type Browser, linksTo, setUpAccount } from './parties.ts'
import { addUri, optionsIn } from './passkeys.ts'

interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string | undefined
}

async function setUpAll() {
  const alice = { sub: 'sub of alice', username: 'alice', email: 'alice@example.com', emailVerified: true }
  const { store } = memoryAccounts([{ ...alice, password: 'alice-password' }])
  const mails: Mail[] = []
  const stored = storedSecondFactors({ encryptionSecrets })
  const passkeys = storedPasskeys()
  const double = await createOpenIdDouble({ claims: { name: 'Alice at Acme' } })
  const linkedProviders = upstream({ providers: [acmeOf(double)], fetch: double.fetch })
  const f = await setUpAccount({
    account: {
      accounts: store,
      mailer: { send: (mail) => void mails.push(mail) },
      passwords: {},
      passkeys,
      secondFactors: stored.account,
      linkedProviders,
    },
    signIn: { ways: [linkedProviders], passkeys, secondFactors: stored.factors },
    provider: { runtime: { now: realNow } },
  })
  return { ...f, mails, double }
}

type Parties = Awaited<ReturnType<typeof setUpAll>>
type Act = (f: Parties, browser: Browser, overview: Page) => Promise<unknown>

/** Sends the form of the first page with this path. */
const sendFirst =
  (path: string, end: string, fields: Readonly<Record<string, string>> = {}): Act =>
  async (f, browser, overview) => {
    const url = linksTo(overview, path).find((link) => link.endsWith(end)) ?? ''
    return f.send(browser, await browser.open(url), fields)
  }

const addPasskey: Act = async (f, browser) => {
  const page = await browser.open(addUri)
  const credential = createAuthenticator().register(optionsIn(page).challenge)
  return f.send(browser, page, { credential, name: 'Laptop' })
}

const addApp: Act = async (f, browser) => {
  const page = await browser.open(setUpUri)
  return f.send(browser, page, { code: codeAt(secretIn(page), realNow()) })
}

const link: Act = async (f, browser) => {
  const { html } = await browser.open(`${accountUri}/providers/add/acme`)
  const leave = /id="confirm" href="([^"]*)"/u.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? ''
  return browser.open(f.double.authorize((await browser.open(leave)).url))
}

const signInElsewhere: Act = (f) => f.signedIn()

const changes: readonly [change: string, text: string, act: Act, before: Act | undefined][] = [
  ['session_ended', 'The device is signed out.', sendFirst('sessions/', ''), signInElsewhere],
  ['sessions_ended', 'All other devices are signed out.', sendFirst('sessions/end-others', ''), signInElsewhere],
  ['access_withdrawn', 'The access is removed.', sendFirst('applications/', ''), (f, browser) => f.authorize(browser)],
  ['passkey_added', 'The passkey is added.', addPasskey, undefined],
  ['passkey_renamed', 'The passkey is renamed.', sendFirst('passkeys/', '/rename', { name: 'Phone' }), addPasskey],
  ['passkey_removed', 'The passkey is removed.', sendFirst('passkeys/', '/remove'), addPasskey],
  ['app_added', 'The authenticator app is set up.', addApp, undefined],
  ['app_removed', 'The authenticator app is removed', sendFirst('otp/remove', ''), addApp],
  [
    'recovery_codes_created',
    'recovery codes',
    async (f, browser) => f.send(browser, await browser.open(codesUri)),
    addApp,
  ],
  [
    'password_changed',
    'Your password was changed.',
    sendFirst('password', '', { password: 'correct horse battery' }),
    undefined,
  ],
  ['provider_linked', 'linked', link, undefined],
  ['provider_unlinked', 'The account is no longer linked.', sendFirst('providers/', '/remove'), link],
]

test.each(changes)('%s is an event and a mail', async (change, text, act, before) => {
  const f = await setUpAll()
  const { browser } = await f.signedIn()
  await before?.(f, browser, await browser.open(accountUri))
  const [mailsBefore, eventsBefore] = [f.mails.length, f.events.length]
  await act(f, browser, await browser.open(accountUri))
  const recorded = f.events.slice(eventsBefore).flatMap((event) => (event.type === 'account_changed' ? [event] : []))
  expect(recorded).toMatchObject([{ change, sub: 'sub of alice' }])
  const sent = f.mails.slice(mailsBefore)
  expect(sent).toMatchObject([{ to: 'alice@example.com', subject: expect.stringMatching(/\S/u) }])
  const [mail] = sent
  for (const body of [mail?.text, mail?.html]) {
    expect(body).toContain(text)
    expect(body).toContain('id.example.com')
    expect(body).toContain(accountUri)
    // Nothing of the user, and no secret.
    expect(body).not.toMatch(/alice|Laptop|Phone|correct horse/u)
  }
})
