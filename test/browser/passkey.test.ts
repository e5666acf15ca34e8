import { serve } from '@grantry/adapters/node'
import { createPages } from '@grantry/pages'
import { passkeys } from '@grantry/plugins/passkeys'
import { signIn } from '@grantry/plugins/sign-in'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clients, request, setUp } from '../authorization/parties.ts'
import { createAuthenticator } from '../sign-in/authenticator.ts'
import { violationsIn } from '../support/axe.ts'
import { describeWithChromium, startChromium } from '../support/chromium.ts'
import { reservedPort } from '../support/reserved-port.ts'

const device = createAuthenticator()

let browser: Browser
let issuer: string
let close: () => Promise<void>

/** What happens to the request for a passkey in the field of the user name: the virtual device accepts it immediately. */
const offers = {
  none: 'PublicKeyCredential.isConditionalMediationAvailable = async () => false',
  accepted: '',
  /** The user does not choose it. */
  pending: `
    PublicKeyCredential.isConditionalMediationAvailable = async () => true
    const { get } = CredentialsContainer.prototype
    const note = (text) => sessionStorage.setItem('asked', (sessionStorage.getItem('asked') ?? '') + text + ' ')
    CredentialsContainer.prototype.get = function (options) {
      note(options.mediation ?? 'button')
      if (options.mediation !== 'conditional') return get.call(this, options)
      return new Promise((_, reject) => {
        options.signal.addEventListener('abort', () => {
          note('aborted')
          reject(options.signal.reason)
        })
      })
    }`,
} as const

interface Opened {
  readonly javaScriptEnabled?: boolean
  readonly offer?: keyof typeof offers
}

/** Chromium with a virtual device (https://www.w3.org/TR/webauthn-3/#sctn-automation) that has the passkey of alice. */
async function openPage({ javaScriptEnabled = true, offer = 'none' }: Opened = {}) {
  const context = await browser.newContext({ javaScriptEnabled })
  const page = await context.newPage()
  await page.addInitScript(offers[offer])
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text())
  })
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await session.send('WebAuthn.addCredential', {
    authenticatorId,
    credential: {
      credentialId: Buffer.from(device.credentialId, 'base64url').toString('base64'),
      isResidentCredential: true,
      rpId: 'localhost',
      privateKey: device.privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
      userHandle: Buffer.from('alice').toString('base64'),
      signCount: 1,
    },
  })
  const url = `${issuer}/connect/authorize?${new URLSearchParams({ ...request, redirect_uri: `${issuer}/callback` })}`
  await page.goto(url)
  return { page, problems, context }
}

describeWithChromium('a passkey, in a browser', () => {
  beforeAll(async () => {
    const port = await reservedPort()
    // The domain of a passkey is a name, not an address.
    issuer = `http://localhost:${port}`
    const pages = createPages({ name: 'Example' })
    const check = passkeys({
      find: (id) =>
        id === device.credentialId
          ? { sub: 'alice', name: 'Alice Smith', publicKey: device.publicKey, counter: 0 }
          : undefined,
    })
    const { provider } = await setUp(
      signIn({ pages, passkeys: check }),
      { pages },
      {
        issuer,
        clients: [{ ...clients[0], clientId: 'web', redirectUris: [`${issuer}/callback`] }],
        // The page has a password field beside the passkey.
        users: { authenticate: () => undefined },
      },
    )
    const [server, chromium] = await Promise.all([serve(provider, { port }), startChromium()])
    browser = chromium
    close = () => server.close()
  })
  afterAll(() => Promise.all([close?.(), browser?.close()]))

  test('signs its user in without a password', async () => {
    const { page, problems, context } = await openPage()
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.getByText('Signed in as Alice Smith').waitFor()
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(/\/callback\?code=/u)
    expect(problems.filter((text) => !text.includes('404'))).toEqual([])
    await context.close()
  })

  test('is offered in the field of the user name', async () => {
    const { page, problems, context } = await openPage({ offer: 'accepted' })
    // She has consented before.
    await page.waitForURL(/\/callback\?code=/u)
    expect(problems.filter((text) => !text.includes('404'))).toEqual([])
    await context.close()
  })

  test('is asked for by the button after the offer in the field has ended, with the same challenge', async () => {
    const { page, problems, context } = await openPage({ offer: 'pending' })
    expect(await page.locator('#username').getAttribute('autocomplete')).toBe('username webauthn')
    await expect.poll(() => page.evaluate('sessionStorage.asked')).toBe('conditional ')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    // She has consented before.
    await page.waitForURL(/\/callback\?code=/u)
    expect(await page.evaluate('sessionStorage.asked')).toBe('conditional aborted button ')
    expect(problems.filter((text) => !text.includes('404'))).toEqual([])
    await context.close()
  })

  test('without scripts, the page asks for the password only', async () => {
    const { page, context } = await openPage({ javaScriptEnabled: false })
    expect(await page.locator('#passkey').isVisible()).toBe(false)
    expect(await page.getByLabel('Password').isVisible()).toBe(true)
    await context.close()
  })

  test('the page is accessible', async () => {
    const { page, context } = await openPage()
    expect(await violationsIn(page)).toEqual([])
    await context.close()
  })
})
