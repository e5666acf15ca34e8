// Clients, and requests with an essential `acr`, that demand a second factor: users prove one, or set it up, first.
import { decodeJwt } from '@grantry/core'
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import { describe, expect, test } from 'vitest'
import { answer, hiddenFields, type Page, unescapeHtml } from '../authorization/browser.ts'
import { challenge, clients, redirectUri, request, verifier, web } from '../authorization/parties.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { codeAt, encryptionSecrets, secretIn } from './factors.ts'
import { accountUri, type Browser, issuer, setUpAccount } from './parties.ts'
import { addUri, challengeIn, optionsIn } from './passkeys.ts'

const [first, ...others] = clients
const bank = { ...first, clientId: 'bank', requireSecondFactor: true } as const
const essential = (...values: string[]) => ({
  claims: JSON.stringify({ id_token: { acr: { essential: true, values } } }),
})

async function setUpClients() {
  const stored = storedSecondFactors({ encryptionSecrets })
  const passkeys = storedPasskeys()
  const f = await setUpAccount({
    signIn: { secondFactors: stored.factors, passkeys, acr: 'pwd', secondFactorAcr: 'mfa' },
    account: { secondFactors: stored.account, passkeys, secondFactorAcr: 'mfa' },
    provider: { clients: [first, bank, ...others].filter((client) => client !== undefined) },
  })
  const proof = { code_challenge: challenge, code_challenge_method: 'S256' }
  const urlOf = (more: Readonly<Record<string, string>>): string =>
    `${issuer}/connect/authorize?${new URLSearchParams({ ...request, ...proof, ...more })}`
  /** Sets up an app on the page that a request has led to. */
  async function setUpApp(browser: Browser, page: Page) {
    const secret = secretIn(page)
    const codes = await f.send(browser, page, { code: codeAt(secret, f.clock.now()) })
    const next = await browser.open(unescapeHtml(/id="done" href="([^"]*)"/u.exec(codes.html)?.[1] ?? ''))
    return { secret, next }
  }
  /** Consents, and returns the tokens. */
  async function tokensOf(browser: Browser, consent: Page, clientId = 'bank') {
    const done = await browser.submit(`${issuer}/connect/consent`, { ...hiddenFields(consent), decision: 'allow' })
    const grant = { grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: verifier }
    const { body } = await f.post('token', { ...grant, code: answer(done).code ?? '' }, [clientId, web[1]])
    return body as Record<string, string>
  }
  return { ...f, urlOf, setUpApp, tokensOf }
}

describe('a client with requireSecondFactor', () => {
  test('20.91 lets users set up a factor during the sign-in, and its tokens state it', async () => {
    const { browser: newBrowser, urlOf, enter, setUpApp, tokensOf } = await setUpClients()
    const browser = newBrowser()
    const page = await enter(browser, await browser.open(urlOf({ client_id: 'bank' })))
    expect(page.url.href).toContain(`${accountUri}/otp/set-up/`)
    const { next } = await setUpApp(browser, page)
    const { id_token: token = '' } = await tokensOf(browser, next)
    expect(decodeJwt(token)?.claims).toMatchObject({ acr: 'mfa', amr: ['pwd', 'otp', 'mfa'] })
  })

  test('20.91 leaves other clients as they are', async () => {
    const { browser: newBrowser, urlOf, enter, tokensOf } = await setUpClients()
    const browser = newBrowser()
    const consent = await enter(browser, await browser.open(urlOf({})))
    expect(decodeJwt((await tokensOf(browser, consent, 'web')).id_token ?? '')?.claims).toMatchObject({
      acr: 'pwd',
      amr: ['pwd'],
    })
  })

  test('20.91 lets a session that began without the factor step up', async () => {
    const { signedIn, urlOf, send, browser: newBrowser, enter, tokensOf } = await setUpClients()
    const { browser } = await signedIn()
    const device = createAuthenticator()
    const add = await browser.open(addUri)
    await send(browser, add, { credential: device.register(optionsIn(add).challenge) })
    const secondBrowser = newBrowser()
    await enter(secondBrowser, await secondBrowser.open(urlOf({})))
    const asked = await secondBrowser.open(urlOf({ client_id: 'bank' }))
    // The password is not enough to add another factor.
    expect(asked.html).toContain('name="password"')
    const consent = await secondBrowser.submit(`${issuer}/connect/signin`, {
      ...hiddenFields(asked),
      credential: device.respond(challengeIn(asked)),
    })
    const { id_token: token = '' } = await tokensOf(secondBrowser, consent)
    expect(decodeJwt(token)?.claims).toMatchObject({ acr: 'mfa', amr: ['pop', 'mfa'] })
  })

  test('20.91 is refused without second factors', async () => {
    await expect(setUpAccount({ provider: { clients: [bank] } })).rejects.toThrow(
      'requireSecondFactor needs secondFactors on the account page',
    )
  })
})

describe('an essential acr', () => {
  test('20.92 that needs a factor lets the user set one up', async () => {
    const { browser: newBrowser, urlOf, enter, setUpApp, tokensOf } = await setUpClients()
    const browser = newBrowser()
    const page = await enter(browser, await browser.open(urlOf(essential('mfa'))))
    expect(page.url.href).toContain(`${accountUri}/otp/set-up/`)
    const { next } = await setUpApp(browser, page)
    expect(decodeJwt((await tokensOf(browser, next, 'web')).id_token ?? '')?.claims).toMatchObject({ acr: 'mfa' })
  })

  test('20.92 of a session without the factor asks for the factor', async () => {
    const { browser: newBrowser, urlOf, enter, setUpApp, tokensOf, clock } = await setUpClients()
    const first = newBrowser()
    const { secret } = await setUpApp(first, await enter(first, await first.open(urlOf({ client_id: 'bank' }))))
    clock.advance(30)
    const browser = newBrowser()
    const asked = await enter(browser, await browser.open(urlOf(essential('gold', 'mfa'))))
    const fields = { ...hiddenFields(asked), code: codeAt(secret, clock.now()) }
    const consent = await browser.submit(`${issuer}/connect/secondfactor`, fields)
    expect(decodeJwt((await tokensOf(browser, consent, 'web')).id_token ?? '')?.claims).toMatchObject({ acr: 'mfa' })
  })

  test('20.92 that the password reaches asks for nothing', async () => {
    const { browser: newBrowser, urlOf, enter } = await setUpClients()
    const browser = newBrowser()
    const page = await enter(browser, await browser.open(urlOf(essential('pwd', 'mfa'))))
    expect(page.html).toContain('requests access')
  })

  test('20.92 that no sign-in reaches is refused', async () => {
    const { browser: newBrowser, urlOf, enter } = await setUpClients()
    const browser = newBrowser()
    const page = await enter(browser, await browser.open(urlOf(essential('gold'))))
    expect(answer(page)).toMatchObject({ error: 'unmet_authentication_requirements' })
  })
})
