import { describe, expect, test } from 'vitest'
import { createResourceServer, type ResourceServerOptions } from '../../packages/resource-server/src/index.ts'
import { bearing, createApi, createIssuer, issuer, jwksUri, keyNamed, sign } from './issuer.ts'

// Issuers that differ from RFC 9068: Amazon Cognito, Microsoft Entra ID, servers that write absent members as null.

const key = await keyNamed('one')

describe('introspection: members that are null count as absent', () => {
  const endpoint = `${issuer}/introspect`
  const introspect = async (response: object, more: Partial<ResourceServerOptions> = {}) => {
    const t = await createIssuer()
    t.responses.set(endpoint, () => Response.json(response))
    const introspection = { clientId: 'orders', clientSecret: 'secret' }
    return createResourceServer({ ...t.options, introspection, ...more }).authorize(bearing('abc'))
  }
  const absent = { nbf: null, iat: null, jti: null, client_id: null, sub: null, iss: null, token_type: null, cnf: null }

  test('the token is accepted', async () => {
    const { token } = await introspect({ active: true, aud: 'https://api.example', exp: 2e9, scope: 'read', ...absent })
    expect(token?.claims).toEqual({ active: true, aud: 'https://api.example', exp: 2e9, scope: 'read' })
  })

  test('another claim that names the API is required, also where aud is not', async () => {
    const introspection = { clientId: 'orders', clientSecret: 'secret', requireAudience: false }
    const cognito = { audience: 'orders-client', audienceClaim: 'client_id', requiredClaims: { token_use: 'access' } }
    const reasonFor = async (response: object) =>
      (await introspect({ active: true, ...response }, { ...cognito, introspection })).reason
    expect(await reasonFor({ token_use: 'access', client_id: 'orders-client' })).toBeUndefined()
    expect(await reasonFor({ token_use: 'access' })).toBe('audience_mismatch')
  })

  test('a required member that is null is refused', async () => {
    expect((await introspect({ active: true, aud: null })).reason).toBe('audience_mismatch')
    expect((await introspect({ active: null })).reason).toBe('token_inactive')
  })
})

describe('an issuer whose access tokens name the API in another claim (Amazon Cognito)', () => {
  const options = {
    audience: 'orders-client',
    audienceClaim: 'client_id',
    requiredClaims: { token_use: 'access' },
    jwt: { types: ['JWT'] },
  } as const
  const access = { aud: undefined, client_id: 'orders-client', token_use: 'access' }
  const reasonFor = async (claims: object, more: Partial<ResourceServerOptions> = options) => {
    const { api } = await createApi(more)
    return (await api.authorize(bearing(await sign(key, { ...claims }, { typ: undefined })))).reason
  }

  test.each<[string, object, string | undefined]>([
    ['an access token', access, undefined],
    ['one of another client', { ...access, client_id: 'other' }, 'audience_mismatch'],
    ['one without the claim', { ...access, client_id: undefined }, 'audience_mismatch'],
    [
      'one that names the API in aud only',
      { ...access, client_id: undefined, aud: 'orders-client' },
      'audience_mismatch',
    ],
    ['an identity token', { aud: 'orders-client', client_id: undefined, token_use: 'id' }, 'audience_mismatch'],
    ['an identity token with the claim', { ...access, token_use: 'id' }, 'claim_mismatch'],
    ['one without token_use', { ...access, token_use: undefined }, 'claim_mismatch'],
    ['one with token_use as an array', { ...access, token_use: ['access'] }, 'claim_mismatch'],
  ])('%s', async (_, claims, reason) => {
    expect(await reasonFor(claims)).toBe(reason)
  })

  test.each<[Partial<ResourceServerOptions>, string]>([
    [{ audienceClaim: 'client_id' }, 'audienceClaim requires requiredClaims'],
    [{ audienceClaim: 'client_id', requiredClaims: {} }, 'audienceClaim requires requiredClaims'],
    [{ audienceClaim: '' }, 'audienceClaim must be a non-empty string'],
    [{ requiredClaims: { token_use: undefined } as never }, 'requiredClaims.token_use must be a string'],
    [{ requiredClaims: ['access'] as never }, 'requiredClaims must be an object'],
  ])('a mistake in the options is an error: %j', async (more, message) => {
    await expect(createApi(more)).rejects.toThrow(message)
  })
})

describe('issuers by pattern (tenants of Microsoft Entra ID)', () => {
  const pattern = 'https://login.example.com/{tenantid}/v2.0'
  const ours = '11111111-2222-3333-4444-555555555555'
  const claims = { iss: `https://login.example.com/${ours}/v2.0`, tid: ours }
  const asked: string[] = []
  const accepts = (tenant: string) => {
    asked.push(tenant)
    return tenant === ours
  }
  const jwt = { types: ['JWT'], jwksUri }
  const setUp = (more: Partial<ResourceServerOptions> = {}) =>
    createApi({ issuer: { pattern, claim: 'tid', accepts }, jwt, ...more })
  const reasonFor = async (token: object, more: Partial<ResourceServerOptions> = {}) => {
    const { api } = await setUp(more)
    return (await api.authorize(bearing(await sign(key, { ...token }, { typ: 'JWT' })))).reason
  }

  test.each<[string, object, string | undefined]>([
    ['a token of a tenant that the API accepts', claims, undefined],
    ['another tenant', { iss: 'https://login.example.com/other/v2.0', tid: 'other' }, 'issuer_not_accepted'],
    ['iss of another tenant than tid', { ...claims, iss: 'https://login.example.com/other/v2.0' }, 'issuer_mismatch'],
    ['no tid', { ...claims, tid: undefined }, 'issuer_mismatch'],
    ['no iss', { ...claims, iss: undefined }, 'issuer_mismatch'],
    ['the placeholder itself', { iss: pattern, tid: '{tenantid}' }, 'issuer_mismatch'],
    ['a tid with a path', { iss: 'https://login.example.com/a/b/v2.0', tid: 'a/b' }, 'issuer_mismatch'],
    ['an empty tid', { iss: 'https://login.example.com//v2.0', tid: '' }, 'issuer_mismatch'],
    ['a tid that is no text', { ...claims, tid: [ours] }, 'issuer_mismatch'],
    ['another host', { ...claims, iss: `https://evil.example/${ours}/v2.0` }, 'issuer_mismatch'],
    ['another end', { ...claims, iss: `https://login.example.com/${ours}/v2.0/` }, 'issuer_mismatch'],
  ])('%s', async (_, token, reason) => {
    expect(await reasonFor(token)).toBe(reason)
  })

  test('asks the API only about tokens whose signature and claims are valid', async () => {
    asked.length = 0
    await reasonFor({ ...claims, exp: 1 })
    await reasonFor({ ...claims, aud: 'other' })
    expect(asked).toEqual([])
  })

  test('only a check that returns true accepts, and one that fails or hangs is 503', async () => {
    const withCheck = (check: () => unknown) => ({
      issuer: { pattern, claim: 'tid', accepts: check as never },
      timeout: 0.05,
    })
    expect(
      await reasonFor(
        claims,
        withCheck(() => 'yes'),
      ),
    ).toBe('issuer_not_accepted')
    expect(
      await reasonFor(
        claims,
        withCheck(() => undefined),
      ),
    ).toBe('issuer_not_accepted')
    for (const check of [() => Promise.reject(new Error('down')), () => new Promise(() => {})]) {
      expect(await reasonFor(claims, withCheck(check))).toBe('issuer_check_unavailable')
    }
  })

  test('a key that the issuer publishes for one tenant signs for no other', async () => {
    const { test: t, api } = await setUp()
    const token = await sign(key, claims, { typ: 'JWT' })
    t.published = [{ ...key.jwk, issuer: 'https://login.example.com/other/v2.0' } as typeof key.jwk]
    expect((await api.authorize(bearing(token))).reason).toBe('key_unknown')
    t.published = [{ ...key.jwk, issuer: pattern } as typeof key.jwk]
    t.now += 60
    expect((await api.authorize(bearing(token))).reason).toBeUndefined()
  })

  test.each<[unknown, string]>([
    [{ pattern, claim: 'tid' }, 'issuer.accepts must be a function'],
    [{ pattern, accepts }, 'issuer.claim must be a non-empty string'],
    [{ pattern, claim: 'tid', accepts, extra: 1 }, 'issuer has no member extra'],
    [{ pattern: 'https://login.example.com/v2.0', claim: 'tid', accepts }, 'one placeholder'],
    [{ pattern: 'https://{tenant}/v2.0', claim: 'tid', accepts }, 'one placeholder'],
    [{ pattern: 'https://{tenant}.example.com/', claim: 'tid', accepts }, 'one placeholder'],
    [{ pattern: 'https://a.example.com/{a}/{b}', claim: 'tid', accepts }, 'one placeholder'],
    [{ pattern: 'http://a.example.com/{a}', claim: 'tid', accepts }, 'one placeholder'],
  ])('a mistake in %j is an error', async (wrong, message) => {
    await expect(setUp({ issuer: wrong as never })).rejects.toThrow(message)
  })

  test('needs to know where the keys are', async () => {
    await expect(setUp({ jwt: { types: ['JWT'] } })).rejects.toThrow('issuer.pattern requires jwt.jwks or jwt.jwksUri')
  })
})

describe('jwksUri with http', () => {
  test.each([
    'http://idp:8080/jwks',
    'http://keys.internal/jwks',
    'http://idp.auth.svc.cluster.local/jwks',
    'http://10.0.3.4:8080/jwks',
    'http://172.20.1.1/jwks',
    'http://[fd00::1]/jwks',
    'https://issuer.example/jwks',
  ])('%s needs permission, which allows the internal network', async (uri) => {
    if (uri.startsWith('http:')) {
      await expect(createApi({ jwt: { jwksUri: uri } })).rejects.toThrow('jwt.jwksUri must be a URL with https')
    }
    const { test: t, api } = await createApi({ jwt: { jwksUri: uri, allowInternalHttp: true } })
    t.responses.set(uri, () => Response.json({ keys: [key.jwk] }))
    expect((await api.authorize(bearing(await sign(key)))).reason).toBeUndefined()
  })

  test.each([
    'http://issuer.example/jwks',
    'http://8.8.8.8/jwks',
    'http://169.254.169.254/jwks',
    'http://[2001:db8::1]/jwks',
    'http://172.32.1.1/jwks',
    'http://user:secret@idp/jwks',
    'http://10.0.0.1.example.com/jwks',
    'ftp://idp/jwks',
  ])('%s is refused with permission, too', async (uri) => {
    await expect(createApi({ jwt: { jwksUri: uri, allowInternalHttp: true } })).rejects.toThrow('jwt.jwksUri must be')
  })

  test('permission without jwksUri, or that is no flag, is an error', async () => {
    await expect(createApi({ jwt: { allowInternalHttp: true } })).rejects.toThrow('requires jwt.jwksUri')
    await expect(createApi({ jwt: { jwksUri, allowInternalHttp: 'yes' as never } })).rejects.toThrow('true or false')
  })
})
