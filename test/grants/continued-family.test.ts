import {
  type ClientOptions,
  type Contribution,
  defineGrant,
  defineGrantCheck,
  definePlugin,
  type GrantKit,
  type GrantResult,
  type NewAuthorizationCode,
  OAuthError,
  type Plugins,
} from '@grantry/core'
import { type Credentials, createTestProvider, sha256Of, type TestProviderOptions } from '@grantry/core/testing'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { refreshToken } from '@grantry/plugins/refresh-token'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

const grantType = 'urn:example:exchange'
const redirectUri = 'https://app.example.com/callback'
const app: Credentials = ['app', 'app-secret']
const service: Credentials = ['service', 'service-secret']

const refused = () => new OAuthError('invalid_grant', 'The token is not valid', { reason: 'plugin:exchange:unknown' })

type Found = NonNullable<Awaited<ReturnType<GrantKit['validateToken']>> | Awaited<ReturnType<GrantKit['findGrant']>>>

/** Exchanges a token of this provider. `more` adds to the result. */
const exchange = (more: (found: Found) => Partial<GrantResult> = (continuesFamilyOf) => ({ continuesFamilyOf })) =>
  defineGrant({
    grantType,
    params: v.object({ token: v.string(), kind: v.picklist(['access_token', 'id_token', 'refresh', 'code']) }),
    async handle({ params: { token, kind }, scopes }, kit) {
      const found =
        kind === 'refresh' || kind === 'code' ? await kit.findGrant(kind, token) : await kit.validateToken(token, kind)
      if (found === undefined) throw refused()
      return { subject: { sub: 'alice', amr: ['token'] }, scopes, ...more(found) } as GrantResult
    },
  })

async function setUp(
  grant: Plugins = exchange(),
  { refreshLifetime = 86_400, ...more }: Partial<TestProviderOptions> & { readonly refreshLifetime?: number } = {},
) {
  const client = ([clientId, secret]: Credentials) => ({
    clientId,
    secrets: [{ sha256: sha256Of(secret) }],
    grantTypes: ['authorization_code', 'refresh_token', grantType],
    scopes: ['openid', 'offline_access', 'api1', ...(more.scopes === undefined ? [] : ['api2'])],
    refreshToken: { slidingLifetime: refreshLifetime },
    redirectUris: [redirectUri],
    accessTokenFormat: 'reference' as const,
  })
  const clients: readonly [ClientOptions, ClientOptions] = [
    { ...client(app), accessTokenLifetime: 600 },
    client(service),
  ]
  const f = await createTestProvider({
    plugins: [authorizationCode(), refreshToken(), grant],
    scopes: [{ name: 'api1', secrets: [{ sha256: sha256Of('api1-secret') }] }],
    clients,
    ...more,
  })
  const code = (given: Partial<NewAuthorizationCode> = {}) =>
    f.provider.createAuthorizationCode({
      clientId: app[0],
      redirectUri,
      subject: { sub: 'alice', amr: ['pwd'] },
      scopes: ['openid', 'offline_access', 'api1'],
      ...given,
    })
  const logIn = async (given?: Partial<NewAuthorizationCode>) => {
    const form = { grant_type: 'authorization_code', code: await code(given), redirect_uri: redirectUri }
    return (await f.post('token', form, app)).body
  }
  return {
    ...f,
    clients,
    code,
    logIn,
    exchange: (token: string, kind = 'access_token', scope = 'api1', as = service) =>
      f.post('token', { grant_type: grantType, token, kind, scope }, as),
    isActive: async (token: string) =>
      (await f.post('introspection', { token }, ['api1', 'api1-secret'])).body.active as boolean,
  }
}

describe('a token that continues the family of another one', () => {
  test.each([
    ['access_token', 'access_token'],
    ['id_token', 'id_token'],
    ['refresh_token', 'refresh'],
  ])('is revoked with it: from the %s', async (member, kind) => {
    const f = await setUp()
    const login = await f.logIn()
    const { status, body } = await f.exchange(login[member], kind)
    expect(status).toBe(200)
    expect(await f.isActive(body.access_token)).toBe(true)
    await f.post('revocation', { token: login.refresh_token }, app)
    expect(await f.isActive(body.access_token)).toBe(false)
  })

  test.each([
    ['access_token', 'access_token'],
    ['refresh_token', 'refresh'],
  ])('is revoked with the subject, also if that happens during the exchange: from the %s', async (member, kind) => {
    let revoke = async (): Promise<void> => undefined
    const f = await setUp(undefined, {
      users: {
        async isActive() {
          // After the token was validated, and before the new one is issued.
          await revoke()
          return true
        },
      },
    })
    const login = await f.logIn()
    revoke = async () => {
      revoke = async () => undefined
      await f.provider.revoke({ subject: 'alice' })
    }
    const { body } = await f.exchange(login[member], kind)
    if (body.access_token !== undefined) expect(await f.isActive(body.access_token)).toBe(false)
    else expect(body.error).toBe('invalid_grant')
  })

  test.each([
    ['access_token', 'access_token'],
    ['id_token', 'id_token'],
    ['refresh_token', 'refresh'],
  ])('is revoked with its client, also if that happens during the exchange: from the %s', async (member, kind) => {
    let revoke = async (): Promise<void> => undefined
    const f = await setUp(undefined, {
      users: {
        async isActive() {
          await revoke()
          return true
        },
      },
    })
    const login = await f.logIn()
    revoke = async () => {
      revoke = async () => undefined
      await f.provider.revoke({ clientId: app[0] })
    }
    const { body } = await f.exchange(login[member], kind, 'api1', app)
    if (body.access_token !== undefined) expect(await f.isActive(body.access_token)).toBe(false)
    else expect(body.error).toBe('invalid_grant')
  })

  test('is not issued for a refresh token of a client that is disabled', async () => {
    const clients = new Map<string, ClientOptions>()
    const f = await setUp(undefined, { clients: { find: async (id) => clients.get(id) } })
    for (const client of f.clients) clients.set(client.clientId, client)
    const login = await f.logIn()
    expect((await f.exchange(login.refresh_token, 'refresh')).status).toBe(200)
    clients.set(app[0], { ...f.clients[0], enabled: false })
    for (const [member, kind] of [
      ['access_token', 'access_token'],
      ['refresh_token', 'refresh'],
    ] as const) {
      expect((await f.exchange(login[member], kind)).status).not.toBe(200)
    }
  })

  test.each<[string, Partial<ClientOptions>]>([
    ['the grant type of the login', { grantTypes: ['refresh_token', grantType] }],
    ['offline_access', { scopes: ['openid', 'api1'] }],
  ])('is not issued for a refresh token of a client that has lost %s', async (_, lost) => {
    const clients = new Map<string, ClientOptions>()
    const f = await setUp(undefined, { clients: { find: async (id) => clients.get(id) } })
    for (const client of f.clients) clients.set(client.clientId, client)
    const { refresh_token } = await f.logIn()
    for (const as of [app, service]) expect((await f.exchange(refresh_token, 'refresh', 'api1', as)).status).toBe(200)
    clients.set(app[0], { ...f.clients[0], ...lost })
    for (const as of [app, service]) {
      expect((await f.exchange(refresh_token, 'refresh', 'api1', as)).body.error).toBe('invalid_grant')
    }
  })

  test('expires no later', async () => {
    const f = await setUp()
    const login = await f.logIn()
    f.clock.advance(200)
    expect((await f.exchange(login.access_token)).body.expires_in).toBe(400)
  })

  test('is refused if the clock tolerance has accepted an expired one', async () => {
    const f = await setUp(undefined, { clockTolerance: 30 })
    const login = await f.logIn()
    f.clock.advance(601)
    const { status, body, failure } = await f.exchange(login.access_token)
    expect([status, body.error, failure]).toEqual([400, 'invalid_grant', 'token_expired'])
  })

  test('expires no later than the refresh token that it is for', async () => {
    const f = await setUp(undefined, { refreshLifetime: 900 })
    const login = await f.logIn()
    f.clock.advance(800)
    expect((await f.exchange(login.refresh_token, 'refresh')).body.expires_in).toBe(100)
  })

  test('has no other audience than the refresh token that it is for', async () => {
    const choice = v.object({ api: v.optional(v.string()) })
    const chosen = ({ params: { api } }: { params: { api?: string | undefined } }): Contribution => ({
      audience: api === undefined ? undefined : [api],
    })
    const check = defineGrantCheck({
      grantTypes: 'all',
      params: choice,
      authorization: { params: choice, check: chosen },
      check: chosen,
    })
    const one = 'https://api1.example.com'
    const two = 'https://api2.example.com'
    const f = await setUp([exchange(), definePlugin('api', [check])], {
      scopes: [
        { name: 'api1', audience: one },
        { name: 'api2', audience: two },
      ],
    })
    const login = await f.logIn({ scopes: ['api1', 'api2', 'offline_access'], params: { api: one } })
    expect((await f.exchange(login.refresh_token, 'refresh')).status).toBe(200)
    const { status, failure } = await f.exchange(login.refresh_token, 'refresh', 'api2')
    expect([status, failure]).toEqual([400, 'audience_not_allowed'])
  })

  test('can have scopes that the grant chooses, if the request names none', async () => {
    const grant = {
      ...exchange((found) => ({ continuesFamilyOf: found, scopes: ['api1'] })),
      scope: 'optional',
    } as const
    const f = await setUp(grant)
    expect((await f.exchange((await f.logIn()).access_token, 'access_token', '')).body.scope).toBe('api1')
    const without = { ...exchange(() => ({ scopes: ['api1'] })), scope: 'optional' } as const
    const g = await setUp(without)
    const { failure } = await g.exchange((await g.logIn()).access_token, 'access_token', '')
    expect(failure).toBe('scope_escalation')
  })

  test('comes without a refresh token, which could outlive the family', async () => {
    const f = await setUp()
    const login = await f.logIn()
    const { body } = await f.exchange(login.refresh_token, 'refresh', 'api1 offline_access')
    expect(body.access_token).toEqual(expect.any(String))
    expect(body).not.toHaveProperty('refresh_token')
  })

  test('does not spend a refresh token', async () => {
    const f = await setUp()
    const login = await f.logIn()
    expect((await f.exchange(login.refresh_token, 'refresh')).status).toBe(200)
    expect((await f.exchange(login.refresh_token, 'refresh')).status).toBe(200)
    const form = { grant_type: 'refresh_token', refresh_token: login.refresh_token }
    expect((await f.post('token', form, app)).status).toBe(200)
  })

  test('is not issued for a spent refresh token: its family is revoked', async () => {
    const f = await setUp()
    const login = await f.logIn()
    const form = { grant_type: 'refresh_token', refresh_token: login.refresh_token }
    const { body } = await f.post('token', form, app)
    const replayed = await f.exchange(login.refresh_token, 'refresh')
    expect([replayed.status, replayed.failure]).toEqual([400, 'refresh_reused'])
    expect(await f.isActive(body.access_token)).toBe(false)
  })
})

describe('a refusal by the core', () => {
  test('has the error code and the text of the grant', async () => {
    const grant = { ...exchange(), refusal: 'The token is unusable', refusalCode: 'invalid_request' } as const
    const f = await setUp(grant, { clockTolerance: 30 })
    const login = await f.logIn()
    f.clock.advance(601)
    const { status, body, failure } = await f.exchange(login.access_token)
    const text = 'The token is unusable'
    expect([status, body, failure]).toEqual([
      400,
      { error: 'invalid_request', error_description: text },
      'token_expired',
    ])
  })

  test('has a known code', async () => {
    await expect(setUp({ ...exchange(), refusalCode: 'server_error' as 'invalid_grant' })).rejects.toThrow(
      /unknown value of refusalCode/u,
    )
  })
})

describe('a defect of the grant', () => {
  test.each<[string, (found: Found) => Partial<GrantResult>, string, RegExp]>([
    [
      'a code, which must be redeemed',
      (found) => ({ continuesFamilyOf: found }),
      'code',
      /must be a token or a stored refresh/u,
    ],
    [
      'a copy',
      (found) => ({ continuesFamilyOf: { ...found } }),
      'access_token',
      /must be a token or a stored refresh/u,
    ],
    [
      'an identity token besides',
      (found) => ({ continuesFamilyOf: found, issue: { identityToken: true } }),
      'access_token',
      /cannot continue a family and issue more/u,
    ],
    [
      'a redemption besides',
      (found) => ({ continuesFamilyOf: found, redeems: 'redemption' in found ? [found.redemption] : [] }),
      'refresh',
      /cannot continue a family and issue more/u,
    ],
    ['nothing, with a refresh token that it has found', () => ({}), 'refresh', /neither redeems nor continues/u],
  ])('to continue %s', async (_, more, kind, message) => {
    const f = await setUp(exchange(more))
    const login = await f.logIn()
    const token = kind === 'code' ? await f.code() : kind === 'refresh' ? login.refresh_token : login.access_token
    const { status, failure } = await f.exchange(token, kind)
    expect(status).toBe(500)
    expect(String(failure)).toMatch(message)
  })
})

describe('the actor of a token', () => {
  const acting = (actor: unknown) => exchange((found) => ({ continuesFamilyOf: found, actor }) as Partial<GrantResult>)
  const actOf = async (actor: unknown) => {
    const f = await setUp(acting(actor))
    const { body, failure } = await f.exchange((await f.logIn()).access_token)
    if (body.error !== undefined) return String(failure)
    return (await f.post('introspection', { token: body.access_token }, ['api1', 'api1-secret'])).body.act
  }

  test('is the claim act, with the chain of delegation', async () => {
    const actor = { sub: 'service', actor: { sub: 'gateway', iss: 'https://other.example.com' } }
    expect(await actOf(actor)).toEqual({
      sub: 'service',
      act: { iss: 'https://other.example.com', sub: 'gateway' },
    })
  })

  test.each([
    ['no sub', {}, /actor/u],
    ['an unknown member', { sub: 'service', scope: 'all' }, /actor/u],
    [
      'too long a chain',
      [1, 2, 3, 4, 5, 6].reduce<object>((actor) => ({ sub: 'x', actor }), { sub: 'x' }),
      /more than 5/u,
    ],
  ])('is refused with %s', async (_, actor, message) => {
    expect(await actOf(actor)).toMatch(message)
  })
})
