/**
 * Attack: an issuer vouches for a client by a software statement, and the caller that registers adds what the statement
 * does not name in so many words: another name of the same thing, with which a stricter claim is passed by. The statement
 * wins for every name of a thing, also when the registration is changed (RFC 7591 section 2.3).
 */
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { createKey } from '../client-assertion/assertions.ts'
import { metadata, redirectUri, setUp } from '../registration/parties.ts'

const signing = await createKey('ES256', { kid: 'vouching' })
const clientKey = await createKey('ES256', { kid: 'own' })
const foreign = await createKey('ES256', { kid: 'foreign' })
const voucher = 'https://vouching.example.com'
const softwareStatements = { issuers: [{ issuer: voucher, jwks: { keys: [signing.jwk] } }] }

const statementOf = (claims: object) =>
  new SignJWT({ ...claims, iss: voucher })
    .setProtectedHeader({ alg: 'ES256', kid: 'vouching' })
    .sign(signing.privateKey)

const method = 'token_endpoint_auth_method'
const methods = 'token_endpoint_auth_methods_supported'
const jwks = { keys: [clientKey.jwk] }

/** What a statement says, what the caller adds, and what must be registered. */
const cases: readonly [string, object, object, object][] = [
  [
    'a list of methods',
    { [method]: 'private_key_jwt', jwks },
    { [methods]: ['none'] },
    { [method]: 'private_key_jwt' },
  ],
  ['one method', { [methods]: ['private_key_jwt'], jwks }, { [method]: 'none' }, { [method]: 'private_key_jwt' }],
  ['the same method', { [method]: 'private_key_jwt', jwks }, { [method]: 'none' }, { [method]: 'private_key_jwt' }],
  ['keys at a URL', { [method]: 'private_key_jwt', jwks }, { jwks_uri: 'https://evil.example/jwks' }, { jwks }],
  [
    'keys',
    { [method]: 'private_key_jwt', jwks_uri: 'https://app.example.com/jwks' },
    { jwks: { keys: [foreign.jwk] } },
    { jwks_uri: 'https://app.example.com/jwks' },
  ],
  [
    'redirect URIs',
    { redirect_uris: [redirectUri] },
    { redirect_uris: ['https://evil.example/cb'] },
    { redirect_uris: [redirectUri] },
  ],
  ['scopes', { scope: 'openid' }, { scope: 'openid api1' }, { scope: 'openid' }],
  ['grant types', { grant_types: ['authorization_code'] }, {}, { grant_types: ['authorization_code'] }],
]

describe('a software statement wins over', () => {
  test.each(cases)('%s', async (_name, claims, added, registered) => {
    const f = await setUp({ open: false, softwareStatements })
    const software_statement = await statementOf(claims)
    const { token_endpoint_auth_method: _, ...usual } = metadata
    const client = await f.registered({ ...usual, token_endpoint_auth_method: undefined, ...added, software_statement })
    expect(client).toMatchObject(registered)
    for (const name of [method, methods, 'jwks', 'jwks_uri'] as const) {
      if (!(name in registered) && name in added) expect(client).not.toHaveProperty(name)
    }
    // The same, without the statement, in a change.
    const { status, body } = await f.send(client.registration_client_uri, {
      method: 'PUT',
      token: client.registration_access_token,
      body: { client_id: client.client_id, ...usual, ...added },
    })
    expect([status, body]).toEqual([200, expect.objectContaining(registered)])
    for (const name of [method, methods, 'jwks', 'jwks_uri'] as const) {
      if (!(name in registered) && name in added) expect(body).not.toHaveProperty(name)
    }
  })
})

describe('a statement that limits the client with a value of another type', () => {
  test.each<[string, object]>([
    ['scopes in an array', { scope: ['openid'] }],
    ['scopes in an object', { scope: { openid: true } }],
    ['the method in an array', { [method]: ['private_key_jwt'], jwks }],
    ['the methods in a string', { [methods]: 'private_key_jwt', jwks }],
    ['a method that is no string', { [methods]: ['private_key_jwt', null], jwks }],
  ])('is refused, and does not stand for no limit: %s', async (_name, claims) => {
    const authenticationMethods = ['none', 'private_key_jwt'] as const
    const f = await setUp({ open: false, softwareStatements, authenticationMethods: [...authenticationMethods] })
    const { token_endpoint_auth_method: _, ...usual } = metadata
    const { status, body } = await f.register({ ...usual, software_statement: await statementOf(claims) })
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
  })
})
