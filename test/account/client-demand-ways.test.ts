// A client that demands a second factor of users who sign in at another provider, or by a mailed link.
import { createSelfServicePages } from '@grantry/pages/self-service'
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { type MailMessage, selfService } from '@grantry/plugins/self-service'
import type { SignInWays } from '@grantry/plugins/sign-in'
import { type UpstreamProvider, upstream } from '@grantry/plugins/upstream'
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields, type Page, unescapeHtml } from '../authorization/browser.ts'
import { clients, request } from '../authorization/parties.ts'
import { actionOf, linkIn, linkOf, memoryAccounts } from '../self-service/parties.ts'
import { createOpenIdDouble, type DoubleOptions, realNow } from '../upstream/openid-double.ts'
import { acmeOf } from '../upstream/parties.ts'
import { codeAt, encryptionSecrets, secretIn } from './factors.ts'
import { accountUri, type Browser, issuer, setUpAccount } from './parties.ts'

const [web] = clients
const bank = { clientId: 'web', ...web, requireSecondFactor: true } as const

async function setUpWays(ways: readonly SignInWays[], now?: () => number) {
  const stored = storedSecondFactors({ encryptionSecrets })
  const f = await setUpAccount({
    signIn: { ways, secondFactors: stored.factors },
    account: { secondFactors: stored.account },
    provider: { clients: [bank], ...(now !== undefined && { runtime: { now } }) },
  })
  const start = (browser: Browser) => browser.open(`${issuer}/connect/authorize?${new URLSearchParams(request)}`)
  /** Sets up an app on the page that the sign-in has led to, and continues. */
  async function setUp(browser: Browser, page: Page) {
    expect(page.url.href).toContain(`${accountUri}/otp/set-up/`)
    const time = now?.() ?? f.clock.now()
    const codes = await f.send(browser, page, { code: codeAt(secretIn(page), time) })
    return browser.open(unescapeHtml(/id="done" href="([^"]*)"/u.exec(codes.html)?.[1] ?? ''))
  }
  return { ...f, start, setUp }
}

async function setUpProvider(claims: NonNullable<DoubleOptions['claims']>, more: Partial<UpstreamProvider> = {}) {
  const double = await createOpenIdDouble({ claims })
  const way = upstream({ providers: [acmeOf(double, more)], fetch: double.fetch })
  const f = await setUpWays([way], realNow)
  /** Begins a request, and signs in at the provider. */
  async function atProvider() {
    const browser = f.browser()
    const login = await f.start(browser)
    const [, url = ''] = /href="([^"]*\/connect\/upstream\/acme[^"]*)"/u.exec(login.html) ?? []
    const away = await browser.open(url.replaceAll('&amp;', '&'))
    return { browser, page: await browser.open(double.authorize(away.url)) }
  }
  return { ...f, atProvider }
}

describe('a client with requireSecondFactor', () => {
  test('20.91 lets a user of another provider set up a factor', async () => {
    const { atProvider, setUp } = await setUpProvider({ name: 'Alice', amr: ['pwd'], auth_time: realNow() })
    const { browser, page } = await atProvider()
    expect((await setUp(browser, page)).html).toContain('requests access')
  })

  test('20.91 accepts the factor that another provider states', async () => {
    const { atProvider } = await setUpProvider({ name: 'Alice', amr: ['otp', 'mfa'] })
    expect((await atProvider()).page.html).toContain('requests access')
  })

  test('20.91 lets a user who has signed in by a mailed link set up a factor', async () => {
    const alice = { sub: 'sub of alice', username: 'alice', email: 'alice@example.com', emailVerified: true }
    const mails: MailMessage[] = []
    const way = selfService({
      store: memoryAccounts([alice]).store,
      mailer: { send: (mail) => void mails.push(mail) },
      pages: createSelfServicePages({ locales: ['en'], host: 'id.example.com' }),
      mail: 'link',
    })
    const { browser: newBrowser, start, setUp, provider } = await setUpWays([way])
    const browser = newBrowser()
    const submit = (page: Page, fields: Readonly<Record<string, string>> = {}) =>
      browser.submit(actionOf(page), { ...hiddenFields(page), ...fields })
    const asked = await browser.open(linkOf(await start(browser), 'by-mail'))
    await submit(asked, { address: 'alice@example.com' })
    await provider.runTasks()
    const signedIn = await submit(await browser.open(linkIn({ text: mails.at(-1)?.text ?? '' })))
    const consent = await setUp(browser, signedIn)
    const done = await browser.submit(`${issuer}/connect/consent`, { ...hiddenFields(consent), decision: 'allow' })
    expect(answer(done).code).toBeDefined()
  })
})
