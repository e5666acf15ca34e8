// A sign-in during which the configuration is read again at every step: a pushed request, the page, the code, the session.
import { hashPassword } from '@grantry/users/password-hash'
import { expect, test } from 'vitest'
import { createHttpBrowser } from '../support/sign-in.ts'
import { clientOf, loadedOf, redirectUri, run } from './running.ts'

test('a user signs in across reloads, and stays signed in', async () => {
  const loaded = loadedOf({
    plugins: [{ name: 'sign-in' }],
    users: [{ sub: '1', username: 'alice', password: await hashPassword('alice-password') }],
    clients: [clientOf('web', { requireConsent: false })],
  })
  const server = await run(loaded)
  const reload = async () => expect(await server.running.reload()).toMatchObject({ reloaded: true })
  const browser = createHttpBrowser(async (url, init) => {
    const target = new URL(url, 'https://id.example.com')
    const request = new Request(target, init)
    request.headers.set('origin', target.origin)
    const response = await server.running.handle(request, { clientAddress: '192.0.2.1' })
    return { status: response.status, headers: response.headers, body: await response.text() }
  })
  const codeIn = (url: string): string => new URL(url).searchParams.get('code') ?? ''
  const parameters = { response_type: 'code', client_id: 'web', redirect_uri: redirectUri, scope: 'openid' }
  const verifier = 'v'.repeat(43)
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  const challenge = Buffer.from(digest).toString('base64url')
  const proved = { ...parameters, code_challenge: challenge, code_challenge_method: 'S256' }

  const pushed = await (await server.post('/connect/par', proved)).json()
  await reload()
  const query = new URLSearchParams({ client_id: 'web', request_uri: String(pushed.request_uri) })
  const page = await browser.visit(`https://id.example.com/connect/authorize?${query}`, redirectUri)
  expect([page.status, page.html]).toEqual([200, expect.stringContaining('password')])
  await reload()
  const signedIn = await browser.submit(page.html, { username: 'alice', password: 'alice-password' }, redirectUri)
  await reload()
  const redeem = (code: string) =>
    server.post('/connect/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    })
  expect((await redeem(codeIn(signedIn.url))).status).toBe(200)
  const again = `https://id.example.com/connect/authorize?${new URLSearchParams(proved)}`
  const returned = await browser.visit(again, redirectUri)
  expect((await redeem(codeIn(returned.url))).status).toBe(200)
  await server.running.close()
})
