/**
 * Attack: the password of an administrator is known, and 300 other users have no second factor, so the server does not demand
 * one of all. The console lets its user change every client and user: it demands a second factor by itself where users can
 * set one up, unless the configuration turns it off.
 */
import { createHash } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { administrationInput, loadedOf } from '../console/open-administration.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { createHttpBrowser } from '../support/sign-in.ts'

const factors = { account: {}, secondFactors: { encryptionSecrets: ['s'.repeat(40)] } }

/** Signs alice in with her password only. Returns the URL at which the browser ends. */
async function endOf(entry: object, console: boolean | object, client: 'console' | 'shop'): Promise<string> {
  const port = await reservedPort()
  const issuer = `http://127.0.0.1:${port}`
  const redirectUri = client === 'console' ? `${issuer}/console/` : 'https://shop.example.com/callback'
  const shop = {
    clientId: 'shop',
    public: true,
    grantTypes: ['authorization_code'],
    scopes: ['openid'],
    redirectUris: ['https://shop.example.com/callback'],
    requireConsent: false,
  }
  const { clients, ...input } = administrationInput(issuer)
  const plugins = [{ name: 'sign-in', ...entry }, input.plugins[1]]
  const loaded = loadedOf({ ...input, console, plugins, clients: [...clients, shop] })
  const server = await startServer({ loaded, port, observe: () => {} })
  onTestFinished(() => server.close(0))
  const challenge = createHash('sha256').update('v'.repeat(43)).digest('base64url')
  const query = new URLSearchParams({
    client_id: client === 'console' ? 'grantry-console' : 'shop',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: client === 'console' ? 'openid admin' : 'openid',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const browser = createHttpBrowser()
  const { html } = await browser.visit(`${issuer}/connect/authorize?${query}`, redirectUri)
  const { url } = await browser.submit(html, { username: 'alice', password: 'alice-password' }, redirectUri)
  return url
}

test.each([
  ['by default where users can set one up', factors, true, false],
  ['if it is remote', factors, { remote: true }, false],
  ['if the configuration demands it', factors, { requireSecondFactor: true }, false],
  ['not if the configuration turns it off', factors, { requireSecondFactor: false }, true],
  ['not where there are none', {}, true, true],
])('the console demands a second factor %s', async (_, entry, console, hasCode) => {
  expect(/[?&]code=/u.test(await endOf(entry, console, 'console'))).toBe(hasCode)
})

test('other clients do not', async () => {
  expect(await endOf(factors, true, 'shop')).toMatch(/[?&]code=/u)
})

test('a server whose users cannot set one up does not start if the console demands it', async () => {
  await expect(endOf({}, { requireSecondFactor: true }, 'console')).rejects.toThrow(
    'console: its client cannot sign in: ',
  )
})
