// Common first mistakes, and the message for each.
import { createProvider, type ProviderOptions, signingKeys } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { createTestProvider, mapDriver, sha256Of, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, proof, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const start = (more: object) =>
  createProvider({
    issuer: 'https://id.example.com',
    keys: signingKeys(),
    storage: mapDriver(),
    clients: [],
    plugins: [clientCredentials()],
    ...more,
  } as ProviderOptions)

const makeOne = 'reate one with hashSecret() or grantry hash-secret'

describe('a secret in the wrong place', () => {
  test.each(['clientSecret', 'client_secret', 'secret', 'sha256'])('%s of a client', async (name) => {
    const client = { clientId: 'web', [name]: 'the-secret-itself', grantTypes: ['client_credentials'] }
    await expect(start({ clients: [client] })).rejects.toMatchObject({
      name: 'TypeError',
      message: `clients[0] ("web"): ${name} is not a known option; did you mean secrets, an array of hashes such as [{ sha256: '<base64>' }]? C${makeOne}`,
    })
  })

  test('secret of a scope', async () => {
    await expect(start({ scopes: [{ name: 'api1', secret: 'the-secret-itself' }] })).rejects.toThrow(
      `scopes[0] ("api1"): secret is not a known option; did you mean secrets, an array of hashes such as [{ sha256: '<base64>' }]? C${makeOne}`,
    )
  })

  test.each([
    ['a string', 'the-secret-itself'],
    ['null', null],
  ])('%s instead of the hash', async (kind, secret) => {
    await expect(start({ clients: [{ clientId: 'web', secrets: [secret] }] })).rejects.toMatchObject({
      name: 'TypeError',
      message: `clients[0] ("web"): secrets[0] must be an object such as { sha256: '<base64>' }, not ${kind}; c${makeOne}`,
    })
  })
})

test('a string instead of keys is rejected with a message that names storedKeys()', async () => {
  await expect(start({ keys: 'secret' })).rejects.toMatchObject({
    name: 'TypeError',
    message: 'createProvider(): keys must be storedKeys(), signingKeys() or an array of JWKs',
  })
})

test.each([
  ['grant_types', 'grantTypes'],
  ['redirect_uris', 'redirectUris'],
  ['allowed_cors_origins', 'allowedCorsOrigins'],
  ['access-token-lifetime', 'accessTokenLifetime'],
])('%s is suggested as %s', async (written, meant) => {
  await expect(start({ clients: [{ clientId: 'web', [written]: [] }] })).rejects.toThrow(
    `clients[0] ("web"): ${written} is not a known option; did you mean ${meant}`,
  )
})

describe('openAuthorization()', () => {
  test.each([
    ['code_challenge', 'params.code_challenge'],
    ['code_challenge_method', 'params.code_challenge_method'],
    ['redirect_uri', 'redirectUri?'],
  ])('%s names %s', async (written, meant) => {
    const { code } = await fixture()
    await expect(code({ [written]: proof.challenge })).rejects.toMatchObject({
      name: 'OAuthError',
      code: 'invalid_request',
      message: `${written} is not a known option; did you mean ${meant}`,
    })
  })

  test('rejects a missing member', async () => {
    const { provider } = await fixture()
    const open = (input: object | undefined) => provider.openAuthorization(input as never)
    const input = { kind: 'code', clientId: 'web', scopes: ['api1'] }
    const misspelt = { ...input, redirect_uri: 'https://web.example.com/callback' }
    await expect(open(misspelt)).rejects.toThrow('did you mean redirectUri?')
    await expect(open(input)).rejects.toThrow('redirectUri is required')
    await expect(open({ kind: 'code' })).rejects.toThrow('clientId is required')
    await expect(open({})).rejects.toThrow('no plugin redeems stored grants of the kind undefined')
    await expect(open(undefined)).rejects.toThrow('no plugin redeems stored grants of the kind undefined')
  })
})

test('a token request without a scope reports the missing scope', async () => {
  const f = await fixture()
  expect(await f.post('token', { grant_type: 'client_credentials' }, web)).toMatchObject({
    status: 400,
    body: { error: 'invalid_scope', error_description: 'The scope parameter is missing' },
  })
})

describe('a grant that returns an undeclared scope', () => {
  const grant = (scopes: readonly string[]) =>
    testGrant({ grantType: 'urn:example:badge', scope: 'ignored', handle: () => ({ scopes }) })
  const send = async (scopes: readonly string[]) => {
    const { post, events } = await createTestProvider({
      plugins: [grant(scopes)],
      scopes: [{ name: 'api1' }, { name: 'api2' }],
    })
    const { status, body, failure } = await post('token', { grant_type: 'urn:example:badge' }, testClient)
    return {
      status,
      error: body.error,
      failure,
      reason: events.flatMap((e) => ('reason' in e ? [e.reason] : [])).at(-1),
    }
  }

  test('has its reason in the event, and in failure of the test kit', async () => {
    expect(await send(['badge'])).toEqual({
      status: 400,
      error: 'invalid_scope',
      failure: 'scope_unknown',
      reason: 'scope_unknown',
    })
  })

  test('is distinguished from a scope that is not allowed to the client', async () => {
    expect(await send(['api2'])).toMatchObject({ failure: 'scope_not_allowed', reason: 'scope_not_allowed' })
  })
})

describe('a request below the wrong base path', () => {
  const description = async (issuer: string, path: string, more: Partial<ProviderOptions> = {}) => {
    const { fetch } = await start({ issuer, ...more })
    const response = await fetch(new Request(`https://id.example.com${path}`, { method: 'POST' }))
    expect(response.status).toBe(404)
    return (await response.json()).error_description
  }
  const plain = 'There is no such endpoint'

  test.each([
    ['https://id.example.com/tenant', '/connect/token', '/tenant'],
    ['https://id.example.com/tenant', '/.well-known/openid-configuration?x=1', '/tenant'],
    ['https://id.example.com/tenant', '/other/connect/token', '/tenant'],
    ['https://id.example.com', '/auth/connect/token', '/'],
  ])('reports for the issuer %s and %s that the endpoints are under %s', async (issuer, path, base) => {
    expect(await description(issuer, path)).toBe(`${plain}; the endpoints are under ${base}`)
  })

  test.each([
    ['https://id.example.com/tenant', '/tenant/connect/tokens'],
    ['https://id.example.com', '/favicon.ico'],
    ['https://id.example.com', '/connect'],
  ])('reports nothing for the issuer %s and %s', async (issuer, path) => {
    expect(await description(issuer, path)).toBe(plain)
  })

  test('reports nothing for a disabled endpoint', async () => {
    const endpoints = { token: false } as const
    expect(await description('https://id.example.com', '/connect/token', { endpoints })).toBe(plain)
    expect(await description('https://id.example.com', '/auth/connect/token', { endpoints })).toBe(plain)
  })
})

describe('an unreachable store is not a mistake in the options', () => {
  const cause = new Error('connect ECONNREFUSED 127.0.0.1:6379')
  const failing = () => Promise.reject(cause)

  test('at start: an Error with its cause', async () => {
    const error = await start({ storage: { ...mapDriver(), name: 'redis', open: failing } }).catch((thrown) => thrown)
    expect(error).toMatchObject({
      name: 'Error',
      message: 'storage: redis cannot be used: connect ECONNREFUSED 127.0.0.1:6379',
      cause,
    })
    expect(error).not.toBeInstanceOf(TypeError)
  })

  test('at run time: an OAuthError with its cause', async () => {
    const driver = mapDriver()
    let isAway = false
    const storage = {
      ...driver,
      setItem: (...args: Parameters<typeof driver.setItem>) => (isAway ? failing() : driver.setItem(...args)),
    }
    const { code, provider } = await fixture({ storage })
    isAway = true
    const unavailable = { name: 'OAuthError', code: 'temporarily_unavailable', details: { cause } }
    await expect(code()).rejects.toMatchObject(unavailable)
    await expect(provider.revoke({ subject: '1' })).rejects.toMatchObject(unavailable)
  })
})

test('the hash in the messages above authenticates a client', async () => {
  const clients = [{ clientId: 'web', secrets: [{ sha256: sha256Of('x') }], grantTypes: ['client_credentials'] }]
  await expect(start({ clients })).resolves.toBeDefined()
})
