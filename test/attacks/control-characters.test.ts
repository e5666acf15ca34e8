/**
 * Attack: line breaks, NUL, quotes and text of the attacker in every field, to reach a header (response splitting), the
 * challenge, the error description or a store key unescaped.
 *
 * RFC 6749 section 5.2: error_description has %x20-21 / %x23-5B / %x5D-7E only; RFC 9110 section 5.5: no CR, LF or NUL
 * in a header. That no text of the caller is returned at all is hardening.
 */
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

const marker = 'zqxmarker'
const poisons: readonly [string, string][] = [
  ['CR LF and a header', `${marker}\r\nx-injected: 1\r\n\r\n<script>`],
  ['a lone LF', `${marker}\nx-injected: 1`],
  ['a lone CR', `${marker}\rx-injected: 1`],
  ['NUL', `\u0000${marker}\u0000`],
  [
    'every control character',
    `${marker}${Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('')}\u007f`,
  ],
  ['quotes and a second attribute', `${marker}", scope="admin", error="x`],
  ['backslashes', `${marker}\\"\\`],
  ['line separators', `${marker}\u2028\u2029\u0085`],
  ['right-to-left marks', `\u202e${marker}\u2066`],
  ['a byte order mark', `\ufeff${marker}`],
  ['characters outside the BMP', `${marker}😀𝒜`],
  ['non-characters', `${marker}\uffff\ufffe`],
  ['a template', `${marker}\${7*7}{{7*7}}%0d%0ax-injected:1`],
  ['a path', `../../../${marker}`],
  ['a glob and a key separator', `*:${marker}:*`],
]

const allowed = /^[\x20-\x21\x23-\x5B\x5D-\x7E]*$/u

/** No server error, no trace of the caller's text, and an error within the character set. */
function expectClean(response: Awaited<ReturnType<Fixture['post']>>, statuses: readonly number[]): void {
  expect(statuses).toContain(response.status)
  expect(response.headers.has('x-injected')).toBe(false)
  expect(JSON.stringify([...response.headers])).not.toContain(marker)
  expect(JSON.stringify(response.body ?? '')).not.toContain(marker)
  expect(JSON.stringify(response.body ?? '')).not.toContain('admin')
  if (response.body?.error === undefined) return
  expect(Object.keys(response.body)).toEqual(['error', 'error_description'])
  expect(response.body.error).toMatch(/^[a-z_]+$/u)
  expect(response.body.error_description).toMatch(allowed)
}

const forms: Record<string, Record<string, string>> = {
  client_credentials: { grant_type: 'client_credentials', scope: 'api1' },
  password: {
    grant_type: 'password',
    username: 'alice',
    password: 'alice-password',
    scope: 'openid',
    acr_values: 'idp:x tenant:y',
  },
  authorization_code: {
    grant_type: 'authorization_code',
    code: 'x',
    redirect_uri: redirectUri,
    code_verifier: 'v'.repeat(43),
  },
  refresh_token: { grant_type: 'refresh_token', refresh_token: 'x', scope: 'api1' },
}
const fields = Object.entries(forms).flatMap(([name, form]) => Object.keys(form).map((field) => ({ name, field })))

describe.each(poisons)('%s', (_, poison) => {
  test.each(fields)('in $field of $name', async ({ name, field }) => {
    const f = await fixture()
    const response = await f.post('token', { ...forms[name], [field]: poison }, web)
    // The user service validates acr_values; everywhere else the provider does not know the text.
    expectClean(response, field === 'acr_values' ? [200, 400] : [400])
    expect(response.body.error).not.toBe('server_error')
  })

  test('in client_id and client_secret, in the form and in the header', async () => {
    const f = await fixture()
    const form = { grant_type: 'client_credentials', scope: 'api1' }
    expectClean(await f.post('token', { ...form, client_id: poison }), [401])
    expectClean(await f.post('token', { ...form, client_id: poison, client_secret: poison }), [401])
    expectClean(await f.post('token', { ...form, client_id: web[0], client_secret: poison }), [401])
    expectClean(await f.post('token', form, [poison, poison]), [401])
    expectClean(await f.post('token', { ...form, client_id: poison }, web), [400])
    expectClean(await f.post('introspection', { token: 'x' }, [poison, poison]), [401])
  })

  test('in the name of a parameter', async () => {
    const f = await fixture()
    const form = { grant_type: 'client_credentials', scope: 'api1', [poison]: poison }
    expectClean(await f.post('token', form, web), [200])
  })

  test('in the parameters of the other endpoints', async () => {
    const f = await fixture()
    const { access_token } = (await f.post('token', forms.password ?? {}, web)).body
    expectClean(await f.post('introspection', { token: poison, token_type_hint: poison }, api1), [200])
    expectClean(await f.post('userinfo', { access_token: poison }), [401])
    for (const token of [poison, `${poison}.${poison}.${poison}`]) {
      expectClean(await f.post('accessTokenValidation', { token }), [400])
      expectClean(await f.get('accessTokenValidation', { token }), [400])
      expectClean(await f.post('identityTokenValidation', { token, client_id: poison }), [400])
      expectClean(await f.get('identityTokenValidation', { token, client_id: poison }), [400])
    }
    expectClean(await f.post('accessTokenValidation', { token: access_token, expectedScope: poison }), [400])
  })
})

describe('the challenges', () => {
  test('for a client contain only the issuer', async () => {
    const f = await fixture()
    const { headers } = await f.post('token', { client_id: `x", charset="y` })
    expect(headers.get('www-authenticate')).toBe('Basic realm="https://id.example.com"')
  })

  test('for a bearer contain the issuer, a fixed text and a fixed scope', async () => {
    const f = await fixture()
    const invalid = await f.get('userinfo', {}, { authorization: 'Bearer x", error="none' })
    expect(invalid.headers.get('www-authenticate')).toBe(
      'Bearer realm="https://id.example.com", error="invalid_token", error_description="The access token is not valid"',
    )
    const { body } = await f.post('token', forms.client_credentials ?? {}, web)
    const lacking = await f.get('userinfo', {}, { authorization: `Bearer ${body.access_token}` })
    expect(lacking.headers.get('www-authenticate')).toBe(
      'Bearer realm="https://id.example.com", error="insufficient_scope", error_description="The access token must have the scope openid", scope="openid"',
    )
  })

  test.each([
    'https://id.example.com/a", error="none',
    'https://id.example.com/a\r\nx-injected: 1',
    'https://id.example.com/\\',
  ])('cannot be broken by the issuer: %j is rejected at start', async (issuer) => {
    await expect(fixture({ issuer })).rejects.toThrow('issuer')
  })
})
