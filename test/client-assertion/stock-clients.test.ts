// What the client libraries of others send, with the default settings. RFC 7523 section 3; RFC 9126 section 2.

import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { mtls } from '@grantry/plugins/mtls'
import { proofKey } from '@grantry/plugins/proof-key'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { hostSignIn } from '../authorization/parties.ts'
import { assertionType, claims, client, issuer, now, outcomeOf, setUp, sign, tokenEndpoint } from './assertions.ts'

const parUrl = `${issuer}/connect/par`
const redirectUri = 'https://client.example.com/callback'
const pushing = client({
  grantTypes: ['authorization_code', 'client_credentials'],
  redirectUris: [redirectUri],
  scopes: ['openid', 'api1'],
})

type Settings = NonNullable<Parameters<typeof clientAssertion>[0]>

const setUpPushed = (settings: Settings = {}, more: object = {}, aliases?: Record<string, string>) =>
  setUp({}, [{ ...pushing, ...more }], {
    plugins: [
      clientCredentials(),
      authorizationCode(),
      proofKey(),
      clientAssertion(settings),
      mtls({ endpointAliases: aliases }),
      authorizationEndpoint({ interaction: hostSignIn, features: [pushedAuthorization()] }),
    ],
  })

/** Pushes a request with an assertion for this audience. */
async function push(f: Awaited<ReturnType<typeof setUp>>, aud: unknown) {
  const body = new URLSearchParams({
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid',
    client_id: 'service',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    client_assertion_type: assertionType,
    client_assertion: await sign({ ...claims(), aud }),
  })
  const { status } = await read(await f.provider.fetch(new Request(parUrl, { method: 'POST', body })))
  return status
}

const detailIn = ({ events }: Awaited<ReturnType<typeof setUp>>): readonly (string | undefined)[] =>
  events.flatMap((event) =>
    event.type === 'client_authentication_failed' || event.type === 'endpoint_failed' ? [event.detail] : [],
  )

describe('an assertion of a client library is accepted', () => {
  test.each([
    ['authlib, for an hour', { aud: tokenEndpoint, exp: now + 3600 }],
    ['MSAL, for ten minutes', { aud: tokenEndpoint, exp: now + 600, nbf: now }],
    ['golang.org/x/oauth2, with a list', { aud: [tokenEndpoint], exp: now + 3600, nbf: undefined }],
    ['a list with the issuer', { aud: [issuer] }],
    ['openid-client, for the issuer', { aud: issuer }],
    ['a list with the issuer and the token endpoint', { aud: [issuer, tokenEndpoint] }],
  ])('%s', async (_, changes) => {
    expect(await outcomeOf(await setUp(), await sign({ ...claims(), ...changes }))).toEqual([200, undefined])
  })

  test.each([
    ['the endpoint for pushed requests', parUrl],
    ['a list with that endpoint', [parUrl]],
    ['the token endpoint', tokenEndpoint],
    ['the issuer', issuer],
  ])('for a pushed request, with the audience of %s', async (_, aud) => {
    expect(await push(await setUpPushed(), aud)).toBe(201)
  })

  test('for a pushed request, with the alias of its endpoint for certificates', async () => {
    const alias = 'https://mtls.example.com/connect/par'
    const f = await setUpPushed({}, {}, { pushed_authorization_request_endpoint: alias })
    expect(await push(f, alias)).toBe(201)
    expect(await outcomeOf(f, await sign({ ...claims(), aud: alias }))).toEqual([401, 'aud_invalid'])
  })
})

describe('the audience of an assertion is never', () => {
  test.each([
    ['another endpoint than the one that was called', `${issuer}/connect/revocation`],
    ['another server', 'https://other.example.com'],
    ['this provider and another server', [issuer, 'https://other.example.com']],
    ['the endpoint with a query', `${parUrl}?x=1`],
  ])('%s', async (_, aud) => {
    expect(await push(await setUpPushed(), aud)).toBe(401)
  })

  test.each([
    ['the setting of the plugin', { audience: 'issuer' as const }, {}],
    ['the setting of the client', {}, { tokenEndpointAuthAudience: 'issuer' }],
  ])('an endpoint or a list, with %s for the issuer', async (_, settings, more) => {
    const f = await setUpPushed(settings, more)
    for (const aud of [parUrl, tokenEndpoint, [issuer]]) expect(await push(f, aud)).toBe(401)
    expect(await push(f, issuer)).toBe(201)
  })
})

describe('the events of a refusal say which setting would allow it', () => {
  const hint = 'set audience of client-assertion, or tokenEndpointAuthAudience of the client, to "issuer or endpoint"'
  test.each<[string, Settings, object, object, string | undefined]>([
    ['the audience', { audience: 'issuer' }, { aud: tokenEndpoint }, {}, hint],
    ['a list', { audience: 'issuer' }, { aud: [issuer] }, {}, hint],
    ['another audience', {}, { aud: `${issuer}/other/token` }, {}, 'set tokenEndpoint of client-assertion'],
    ['the lifetime', {}, { exp: now + 7200 }, {}, 'set maxLifetime of client-assertion to 7200'],
    ['a lifetime of a year', {}, { exp: now + 31_536_000 }, {}, 'exp can be at most 86400 seconds ahead'],
    ['a clock that is ahead', {}, { iat: now + 30 }, {}, 'clockTolerance of client-assertion is 10 seconds'],
    ['a later nbf', {}, { nbf: now + 30 }, {}, 'clockTolerance of client-assertion is 10 seconds'],
    ['an old assertion', {}, { exp: now - 30 }, {}, 'clockTolerance of client-assertion is 10 seconds'],
    ['the algorithm', { algorithms: ['PS256'] }, {}, {}, 'add ES256 to algorithms of client-assertion'],
    [
      'the algorithm of the client',
      {},
      {},
      { tokenEndpointAuthSigningAlg: 'PS256' },
      'tokenEndpointAuthSigningAlg of the client is not ES256',
    ],
    ['a claim that no setting allows', {}, { jti: '' }, {}, undefined],
  ])('about %s', async (_, settings, changes, more, detail) => {
    const f = await setUp(settings, [client(more)])
    expect((await outcomeOf(f, await sign({ ...claims(), ...changes })))[0]).toBe(401)
    const expected = detail === undefined ? undefined : expect.stringContaining(detail)
    expect(detailIn(f)).toEqual([expected, expected])
  })

  test('but nothing about an algorithm that is the text of a stranger', async () => {
    const f = await setUp()
    const [, payload, signature] = (await sign(claims())).split('.')
    const header = Buffer.from(JSON.stringify({ alg: 'secret-in-alg' })).toString('base64url')
    expect(await outcomeOf(f, `${header}.${payload}.${signature}`)).toEqual([401, 'algorithm_not_allowed'])
    expect(detailIn(f)).toEqual([undefined, undefined])
  })
})

test.each([9, 86_401])('maxLifetime cannot be %s', (maxLifetime) => {
  expect(() => clientAssertion({ maxLifetime })).toThrow('maxLifetime must be 10 to 86400 seconds')
})
