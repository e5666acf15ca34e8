/**
 * Runs the login page of docs/guides/embedding.md unchanged. Standard clients sign in with it, and unsupported requests are refused before the page shows a password field.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { pathToFileURL } from 'node:url'
import type { Provider } from '@grantry/core'
import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeBlocks, root, withReservedPort } from './code-blocks.ts'

const redirectUri = 'https://spa.example.com/callback'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

let base: string
let program: { readonly provider: Provider; readonly server: Server }
let directory: string

beforeAll(async () => {
  const guide = codeBlocks('docs/guides/embedding.md').find(({ code }) => code.includes('loginPage('))
  const code = await withReservedPort(guide?.code ?? '')
  const [page = ''] = code.split('// What the browser and the client do:') ?? []
  // Inside the tree, so that the packages are found; ignored by git.
  mkdirSync(`${root}/test/docs/.generated`, { recursive: true })
  directory = mkdtempSync(`${root}/test/docs/.generated/login-`)
  const file = `${directory}/login-page.ts`
  writeFileSync(file, `${page}\nexport { provider, server }\n`)
  program = await import(pathToFileURL(file).href)
  base = program.provider.issuer
})
afterAll(() => {
  program.server.close()
  program.server.closeAllConnections()
  rmSync(directory, { recursive: true, force: true })
})

const request = {
  response_type: 'code',
  client_id: 'spa',
  redirect_uri: redirectUri,
  scope: 'openid profile',
  state: 'af0ifjsldkj',
  code_challenge: challenge,
  code_challenge_method: 'S256',
}
type Fields = Readonly<Record<string, string | undefined>>
const encoded = (more: Fields): URLSearchParams =>
  new URLSearchParams(
    Object.entries({ ...request, ...more }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
const open = (more: Fields = {}) => fetch(`${base}/login?${encoded(more)}`, { redirect: 'manual' })
const post = (more: Fields = {}) => fetch(`${base}/login`, { method: 'POST', redirect: 'manual', body: encoded(more) })
const signedIn = { username: 'alice', password: 'alice-password' }

/** Submits the form as a browser does: its hidden fields, and the credentials of alice. */
async function submit(page: Response): Promise<URL> {
  const html = await page.text()
  const decode = (text = '') => text.replaceAll(/&#(\d+);/gu, (_, code) => String.fromCharCode(Number(code)))
  const fields = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/gu)]
  const body = new URLSearchParams(fields.map(([, name, value]) => [decode(name), decode(value)]))
  for (const [name, value] of Object.entries(signedIn)) body.set(name, value)
  const response = await fetch(`${base}/login`, { method: 'POST', redirect: 'manual', body })
  expect(response.status).toBe(303)
  return new URL(response.headers.get('location') ?? '')
}

describe('openid-client', () => {
  const discover = () =>
    client.discovery(new URL(base), 'spa', undefined, client.None(), {
      execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
    })

  test.each([
    ['with a nonce', 'n-0S6_WzA2Mj"<&'],
    ['without a nonce', undefined],
  ])('signs in %s', async (_, nonce) => {
    const config = await discover()
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const expectedState = `${client.randomState()}"><script>'&`
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: 'openid profile',
      state: expectedState,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      ...(nonce !== undefined && { nonce }),
    })
    const callback = await submit(await fetch(url))
    const tokens = await client.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier,
      expectedState,
      idTokenExpected: true,
      ...(nonce !== undefined && { expectedNonce: nonce }),
    })
    expect(tokens.claims()).toMatchObject({ sub: '1', amr: ['pwd'] })
    expect(tokens.claims()?.nonce).toBe(nonce)
    expect(await client.fetchUserInfo(config, tokens.access_token, '1')).toMatchObject({ name: 'Alice Smith' })
  })

  test('receives a refusal as the error of the page', async () => {
    const config = await discover()
    const response = await open({ prompt: 'none' })
    const callback = new URL(response.headers.get('location') ?? '')
    await expect(
      client.authorizationCodeGrant(config, callback, { expectedState: request.state }),
    ).rejects.toMatchObject({ error: 'login_required' })
  })
})

describe('rejects before it shows the form:', () => {
  test.each<[string, Fields, string]>([
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
    ['a hybrid response type', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['no response type', { response_type: undefined }, 'invalid_request'],
    ['an unknown response mode', { response_mode: 'web_message' }, 'invalid_request'],
    ['a request object', { request: 'e30.e30.' }, 'request_not_supported'],
    ['a request URI', { request_uri: 'https://spa.example.com/request' }, 'request_uri_not_supported'],
    ['prompt=none', { prompt: 'none' }, 'login_required'],
    ['prompt=none login', { prompt: 'none login' }, 'invalid_request'],
    ['an unknown prompt', { prompt: 'create' }, 'invalid_request'],
    ['no code challenge', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['a challenge without a method', { code_challenge_method: undefined }, 'invalid_request'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a malformed challenge', { code_challenge: 'x' }, 'invalid_request'],
    ['an unknown scope', { scope: 'admin' }, 'invalid_scope'],
    ['no scope', { scope: undefined }, 'invalid_scope'],
    ['a long nonce', { nonce: 'x'.repeat(301) }, 'invalid_request'],
  ])('%s goes back to the client as an error, also with the right password', async (_, more, error) => {
    for (const response of [await open(more), await post({ ...more, ...signedIn })]) {
      expect(response.status).toBe(303)
      const location = new URL(response.headers.get('location') ?? '')
      expect(`${location.origin}${location.pathname}`).toBe(redirectUri)
      // A client of a type with `token` or `id_token` reads the fragment.
      const parameters = new URLSearchParams(location.hash === '' ? location.search : location.hash.slice(1))
      expect(Object.fromEntries(parameters)).toMatchObject({ error, state: request.state, iss: base })
      expect(parameters.has('code')).toBe(false)
    }
  })

  test.each<[string, Fields]>([
    ['an unknown client', { client_id: 'unknown' }],
    ['no client', { client_id: undefined }],
    ['a foreign redirect URI', { redirect_uri: 'https://evil.example.com/' }],
    ['no redirect URI', { redirect_uri: undefined }],
    ['a foreign redirect URI and a prompt', { redirect_uri: 'https://evil.example.com/', prompt: 'none' }],
    ['a foreign redirect URI and no scope', { redirect_uri: 'https://evil.example.com/', scope: undefined }],
    ['a foreign redirect URI and a long nonce', { redirect_uri: 'https://evil.example.com/', nonce: 'x'.repeat(301) }],
  ])('%s is shown, never redirected', async (_, more) => {
    for (const response of [await open(more), await post({ ...more, ...signedIn })]) {
      expect(response.status).toBe(400)
      expect(response.headers.has('location')).toBe(false)
      expect(await response.text()).not.toContain('<form')
    }
  })

  test('shows the error for a repeated parameter, and never redirects', async () => {
    const response = await fetch(`${base}/login?${encoded({})}&state=x`, { redirect: 'manual' })
    expect([response.status, response.headers.has('location')]).toEqual([400, false])
  })
})

describe('the form', () => {
  test('escapes the request, and cannot be framed', async () => {
    const response = await open({ state: '"><script>alert(1)</script>', nonce: "'&" })
    expect(response.status).toBe(200)
    const html = await response.text()
    expect(html).not.toContain('<script')
    expect(html).toContain('name="nonce" value="&#39;&#38;"')
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  test('sends the code by form_post, if the client asks for it', async () => {
    const response = await post({ response_mode: 'form_post', ...signedIn })
    expect(response.status).toBe(200)
    const html = await response.text()
    expect(html).toContain(`action="${redirectUri}"`)
    for (const field of ['name="code"', `name="state" value="${request.state}"`]) expect(html).toContain(field)
  })

  test('is shown again after a wrong password, without the typed values', async () => {
    const response = await post({ username: 'alice', password: 'a-wrong-password' })
    expect(response.status).toBe(403)
    const html = await response.text()
    expect(html).toContain('Wrong user name or password')
    for (const typed of ['a-wrong-password', 'value="alice"']) expect(html).not.toContain(typed)
    expect((await submit(await open())).searchParams.get('code')).toMatch(/^[\w-]{43}$/u)
  })

  test('ignores a password in the query', async () => {
    const response = await open(signedIn)
    expect(response.status).toBe(200)
    expect(await response.text()).not.toContain('alice')
  })

  test('returns Retry-After after too many wrong passwords', async () => {
    const guess = () => post({ username: 'bob', password: 'a-wrong-password' })
    let response = await guess()
    for (let count = 0; response.status === 403 && count < 50; count += 1) response = await guess()
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})
