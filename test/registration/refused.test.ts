import { registration } from '@grantry/plugins/registration'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { createKey } from '../client-assertion/assertions.ts'
import { issuer, metadata, redirectUri, setUp } from './parties.ts'

const key = await createKey('ES256', { kid: 'one' })

const keys = { keys: [key.jwk] }
const refused: readonly (readonly [what: string, sent: unknown, error: string, text: RegExp])[] = [
  ['no redirect URI', { ...metadata, redirect_uris: [] }, 'invalid_redirect_uri', /at least one/u],
  ['redirect URIs that are text', { ...metadata, redirect_uris: redirectUri }, 'invalid_redirect_uri', /array/u],
  [
    'http on another machine',
    { ...metadata, redirect_uris: [redirectUri, 'http://app.example.com/'] },
    'invalid_redirect_uri',
    /redirect_uris\[1\] must use https/u,
  ],
  [
    'a script',
    { ...metadata, redirect_uris: ['javascript:alert(1)'] },
    'invalid_redirect_uri',
    /redirect_uris\[0\] must/u,
  ],
  ['a fragment', { ...metadata, redirect_uris: [`${redirectUri}#a`] }, 'invalid_redirect_uri', /fragment/u],
  ['a user', { ...metadata, redirect_uris: ['http://localhost:x@evil.example/'] }, 'invalid_redirect_uri', /user/u],
  [
    '51 redirect URIs',
    { ...metadata, redirect_uris: Array(51).fill(redirectUri) },
    'invalid_redirect_uri',
    /at most 50/u,
  ],
  [
    'a logout URI without TLS',
    { ...metadata, post_logout_redirect_uris: ['http://app.example.com/'] },
    'invalid_redirect_uri',
    /post_logout_redirect_uris\[0\]/u,
  ],
  [
    'another method',
    { ...metadata, token_endpoint_auth_method: 'client_secret_jwt' },
    'invalid_client_metadata',
    /must be one of none, /u,
  ],
  [
    'a signature without keys',
    { ...metadata, token_endpoint_auth_method: 'private_key_jwt' },
    'invalid_client_metadata',
    /jwks or jwks_uri/u,
  ],
  [
    'a private key',
    { ...metadata, token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ ...key.jwk, d: 'abc' }] } },
    'invalid_client_metadata',
    /jwks.*public key/u,
  ],
  [
    'keys of the internal network',
    { ...metadata, token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://10.0.0.1/jwks' },
    'invalid_client_metadata',
    /jwksUri/u,
  ],
  [
    'keys twice',
    { ...metadata, jwks: keys, jwks_uri: 'https://app.example.com/jwks' },
    'invalid_client_metadata',
    /exclude/u,
  ],
  ['other grant types only', { ...metadata, grant_types: ['implicit'] }, 'invalid_client_metadata', /grant_types/u],
  ['an array', [metadata], 'invalid_request', /JSON object/u],
  ['text', 'hello', 'invalid_request', /JSON object/u],
  [
    'large metadata',
    {
      ...metadata,
      redirect_uris: Array.from({ length: 50 }, (_, index) => `${redirectUri}/${'a'.repeat(500)}${index}`),
    },
    'invalid_client_metadata',
    /16384/u,
  ],
  ['deep metadata', `{"a":${'['.repeat(30)}${']'.repeat(30)}}`, 'invalid_request', /JSON object/u],
]

describe('a registration is refused for', () => {
  test.each(refused)('17.3 %s', async (_, sent, error, text) => {
    const f = await setUp()
    const { status, body } = await f.register(sent)
    expect([status, body.error]).toEqual([400, error])
    expect(body.error_description).toMatch(text)
    expect(f.events.some(({ type }) => type === 'client_registered')).toBe(false)
  })

  test.each([
    [
      'a host that is refused',
      { redirectHosts: [{ host: '*.evil.example', policy: 'refuse' as const }] },
      'https://a.evil.example/cb',
    ],
    ['a host that is not allowed', { otherRedirectHosts: 'refuse' as const }, 'https://app.example.com/cb'],
    ['a program on the device', { nativeRedirects: false }, 'http://127.0.0.1/cb'],
  ])('%s, by the policy', async (_, options, uri) => {
    const f = await setUp(options)
    expect((await f.register({ ...metadata, redirect_uris: [uri] })).body).toMatchObject({
      error: 'invalid_redirect_uri',
    })
  })

  test('another method of HTTP, another media type, and a path below that of a client', async () => {
    const f = await setUp()
    const get = await f.send(`${issuer}/connect/register`, { method: 'GET' })
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
    const post = await f.send(`${issuer}/connect/register/registered-x`, { body: {} })
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, PUT, DELETE'])
    const headers = { 'content-type': 'text/plain' }
    expect((await f.send(`${issuer}/connect/register`, { body: '{}', headers })).status).toBe(415)
    expect((await f.send(`${issuer}/connect/register/a/b`, { method: 'GET' })).status).toBe(404)
  })
})

test('a policy that became stricter applies to the clients that exist', async () => {
  const storage = new Map<string, string>()
  const before = await setUp({}, { storage: mapDriver(storage) })
  const client = await before.registered()
  const after = await setUp({ otherRedirectHosts: 'refuse' }, { storage: mapDriver(storage) })
  expect(await after.authorize(client)).toMatchObject({ status: 400, code: '' })
  const same = await setUp({}, { storage: mapDriver(storage) })
  expect((await same.authorize(client)).code).not.toBe('')
})

test.each([
  [{}, /scopes is required/u],
  [{ scopes: [] }, /scopes must not be empty/u],
  [{ scopes: ['a'], open: 'yes' }, /open must be true or false/u],
  [{ scopes: ['a'], firstTokenWithin: 1 }, /firstTokenWithin must be 60 to/u],
  [{ scopes: ['a'], opne: true }, /open/u],
  [{ scopes: ['a'], softwareStatements: { issuers: [{ issuer: 'a' }] } }, /must have either jwks or jwksUri/u],
])('a mistake in the options is an error at start: %o', (options, message) => {
  expect(() => registration(options as never)).toThrow(message)
})
