import {
  type AtomicDriver,
  type Contribution,
  defineGrant,
  defineGrantCheck,
  definePlugin,
  OAuthError,
  type Plugins,
} from '@grantry/core'
import { createTestProvider, sha256Of, testClient } from '@grantry/core/testing'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

declare module '@grantry/core' {
  interface Demands {
    test_key: { readonly name: string }
  }
}

const [clientId, secret] = testClient
const redirectUri = 'https://client.example.com/callback'
const scopes = ['openid', 'offline_access', 'orders', 'orders:write', 'mail']

/** Two APIs: `orders` with two scopes, and `mail`. */
async function setUp(plugins: Plugins, storage?: AtomicDriver, clientGrant: Plugins = clientCredentials()) {
  const f = await createTestProvider({
    storage,
    plugins: [authorizationCode(), clientGrant, refreshToken(), plugins],
    scopes: [
      { name: 'orders', audience: 'https://orders.example.com' },
      { name: 'orders:write', audience: 'https://orders.example.com' },
      { name: 'mail', audience: 'https://mail.example.com' },
    ],
    clients: [
      {
        clientId,
        secrets: [{ sha256: sha256Of(secret) }],
        grantTypes: ['authorization_code', 'client_credentials', 'refresh_token'],
        scopes,
        redirectUris: [redirectUri],
        refreshToken: { retryWindow: 0 },
      },
    ],
    users: { isActive: () => true },
  })
  const subject = { sub: 'alice', amr: ['pwd'] }
  return {
    ...f,
    code: (params: Record<string, string> = {}) =>
      f.provider.authorize({ kind: 'code', clientId, redirectUri, subject, scopes, params }),
    redeem: (code: string, more: Record<string, string> = {}) =>
      f.post('token', { grant_type: 'authorization_code', redirect_uri: redirectUri, code, ...more }, testClient),
    refresh: (token: string, more: Record<string, string> = {}) =>
      f.post('token', { grant_type: 'refresh_token', refresh_token: token, ...more }, testClient),
  }
}

const claimsOf = ({ access_token }: { access_token: string }) =>
  JSON.parse(Buffer.from(access_token.split('.')[1] ?? '', 'base64url').toString())

const orders = 'https://orders.example.com'
const mail = 'https://mail.example.com'

describe('the audience that a check contributes', () => {
  const params = v.object({ api: v.optional(v.string()) })
  const chosen = ({ params: { api } }: { params: { api?: string | undefined } }): Contribution => ({
    audience: api?.split(','),
  })
  const api = definePlugin('api', [
    defineGrantCheck({ grantTypes: 'all', params, authorization: { params, check: chosen }, check: chosen }),
  ])

  test('narrows the token and its scopes, for every grant type', async () => {
    const { post } = await setUp(api)
    const form = { grant_type: 'client_credentials', scope: 'orders orders:write mail', api: mail }
    const { status, body } = await post('token', form, testClient)
    expect([status, body.scope, claimsOf(body).aud]).toEqual([200, 'mail', mail])
  })

  test('without a choice, the scopes decide', async () => {
    const { post } = await setUp(api)
    const form = { grant_type: 'client_credentials', scope: 'orders mail' }
    expect(claimsOf((await post('token', form, testClient)).body).aud).toEqual([orders, mail])
  })

  const emptyAudience = defineGrantCheck({
    grantTypes: 'all',
    params: v.object({}),
    check: () => ({ audience: [] }),
  })

  test.each([
    ['an unknown one', 'https://evil.example.com'],
    ['one that the requested scopes do not reach', mail],
    ['none', ''],
  ])('is refused: %s', async (_, api_) => {
    const { post } = await setUp(api_ === '' ? definePlugin('none', [emptyAudience]) : api)
    const form = { grant_type: 'client_credentials', scope: 'orders', ...(api_ !== '' && { api: api_ }) }
    const { status, body, failure } = await post('token', form, testClient)
    expect([status, body.error, failure]).toEqual([400, 'invalid_target', 'audience_not_allowed'])
  })
  test('at the authorization limits all tokens, and a token request can only narrow it', async () => {
    const f = await setUp(api)
    const code = await f.code({ api: orders })
    const refused = await f.redeem(code, { api: mail })
    expect([refused.status, refused.body.error]).toEqual([400, 'invalid_target'])
    const { body } = await f.redeem(code)
    expect([body.scope, claimsOf(body).aud]).toEqual(['openid offline_access orders orders:write', orders])
    expect((await f.refresh(body.refresh_token, { api: mail })).body.error).toBe('invalid_target')
    expect(claimsOf((await f.refresh(body.refresh_token)).body).aud).toBe(orders)
  })

  test('at the token request narrows that access token only: the refresh token keeps the others', async () => {
    const f = await setUp(api)
    const first = await f.redeem(await f.code({ api: `${orders},${mail}` }), { api: mail })
    expect(claimsOf(first.body).aud).toBe(mail)
    const second = await f.refresh(first.body.refresh_token)
    expect(claimsOf(second.body).aud).toEqual([orders, mail])
    expect(claimsOf((await f.refresh(second.body.refresh_token, { api: orders })).body).aud).toBe(orders)
  })

  test('is refused if no requested scope remains: a token without scopes would have another audience', async () => {
    const f = await setUp(api)
    const resources = `${f.provider.issuer}/resources`
    const form = { grant_type: 'client_credentials', scope: 'orders', api: resources }
    expect((await f.post('token', form, testClient)).failure).toBe('audience_not_allowed')
    const { body } = await f.redeem(await f.code({ api: orders }))
    const { status, failure } = await f.refresh(body.refresh_token, { scope: 'mail' })
    expect([status, failure]).toEqual([400, 'audience_not_allowed'])
  })

  test('at the authorization must be allowed by the scopes', async () => {
    const { code } = await setUp(api)
    await expect(code({ api: 'https://evil.example.com' })).rejects.toMatchObject({ code: 'invalid_target' })
  })

  test('is the one that every check allows', async () => {
    const other = definePlugin('other', [
      defineGrantCheck({ grantTypes: 'all', params: v.object({}), check: () => ({ audience: [orders] }) }),
    ])
    const { post } = await setUp([api, other])
    const form = { grant_type: 'client_credentials', scope: 'orders mail' }
    expect(claimsOf((await post('token', { ...form, api: `${mail},${orders}` }, testClient)).body).aud).toBe(orders)
    expect((await post('token', { ...form, api: mail }, testClient)).body.error).toBe('invalid_target')
  })
})

describe('the demand that a check contributes', () => {
  /** A refresh token that only the holder of a key can use. */
  const bound = definePlugin('test-key', [
    defineGrantCheck({
      settles: 'test_key',
      grantTypes: ['authorization_code', 'refresh_token'],
      params: v.object({ key: v.optional(v.string()) }),
      check({ params: { key }, demand }) {
        if (demand !== undefined && key !== demand.name) {
          throw new OAuthError('invalid_grant', 'The key is not valid', { reason: 'plugin:test-key:mismatch' })
        }
        return key === undefined || demand !== undefined ? undefined : { demand: { name: key } }
      },
    }),
  ])

  test('binds the refresh token, and every one after it', async () => {
    const f = await setUp(bound)
    let { body } = await f.redeem(await f.code(), { key: 'mine' })
    for (let rotation = 0; rotation < 3; rotation += 1) {
      for (const more of [{}, { key: 'other' }] as Record<string, string>[]) {
        const { status, failure } = await f.refresh(body.refresh_token, more)
        expect([status, failure]).toEqual([400, 'plugin:test-key:mismatch'])
      }
      const next = await f.refresh(body.refresh_token, { key: 'mine' })
      expect(next.status).toBe(200)
      body = next.body
    }
  })

  test('is refused without the plugin: never a downgrade', async () => {
    const storage = memoryDriver()
    const f = await setUp(bound, storage)
    const { body } = await f.redeem(await f.code(), { key: 'mine' })
    const incomplete = await setUp([], storage)
    const { status, failure } = await incomplete.refresh(body.refresh_token, { key: 'mine' })
    expect([status, failure]).toEqual([400, 'demand_unsettled'])
  })

  test('is not carried over from a code', async () => {
    const once = definePlugin('once', [
      defineGrantCheck({
        settles: 'test_key',
        grantTypes: ['authorization_code'],
        params: v.object({}),
        authorization: { params: v.object({}), check: () => ({ demand: { name: 'code' } }) },
        check: () => undefined,
      }),
    ])
    const f = await setUp(once)
    const { body } = await f.redeem(await f.code())
    expect((await f.refresh(body.refresh_token)).status).toBe(200)
  })
})

describe('a malformed contribution is a defect of the plugin', () => {
  const failing = async (contribution: unknown) => {
    const check = () => contribution as Contribution
    const { post } = await setUp(
      definePlugin('broken', [defineGrantCheck({ grantTypes: 'all', params: v.object({}), check })]),
    )
    return post('token', { grant_type: 'client_credentials', scope: 'orders' }, testClient)
  }

  test.each([
    ['an unknown member', { scopes: ['mail'] }, /malformed contribution/u],
    ['an audience that is not a list', { audience: mail }, /malformed contribution/u],
    ['text', 'all', /malformed contribution/u],
    ['a demand that it does not settle', { demand: { name: 'x' } }, /cannot make a demand/u],
  ])('%s', async (_, contribution, message) => {
    const { status, body, failure } = await failing(contribution)
    expect([status, body]).toEqual([500, { error: 'server_error' }])
    expect(String(failure)).toMatch(message)
  })
})

describe('the audience that a grant returns', () => {
  const grant = (audience: readonly string[]) =>
    defineGrant({
      grantType: 'client_credentials',
      params: v.object({}),
      handle: ({ scopes }) => ({ scopes, audience }),
    })

  test.each([
    ['one of the scopes', [mail], 200, mail],
    ['another one', ['https://evil.example.com'], 400, undefined],
  ])('%s', async (_, audience, status, aud) => {
    const f = await createTestProvider({
      plugins: [grant(audience)],
      scopes: [
        { name: 'api1', audience: orders },
        { name: 'openid2', audience: mail },
      ],
      clients: [
        {
          clientId,
          secrets: [{ sha256: sha256Of(secret) }],
          grantTypes: ['client_credentials'],
          scopes: ['api1', 'openid2'],
        },
      ],
    })
    const response = await f.post('token', { grant_type: 'client_credentials', scope: 'api1 openid2' }, testClient)
    expect(response.status).toBe(status)
    if (aud !== undefined) expect(claimsOf(response.body).aud).toBe(aud)
    else expect(response.body.error).toBe('invalid_target')
  })

  test('limits what a check contributes', async () => {
    const check = defineGrantCheck({
      grantTypes: 'all',
      params: v.object({ api: v.string() }),
      check: ({ params: { api } }) => ({ audience: [api] }),
    })
    const narrow = defineGrant({
      grantType: 'client_credentials',
      params: v.object({}),
      handle: () => ({ scopes: ['orders', 'mail'], audience: [mail] }),
      scope: 'ignored',
    })
    const f = await setUp(definePlugin('api', [check]), undefined, narrow)
    const form = { grant_type: 'client_credentials' }
    expect(claimsOf((await f.post('token', { ...form, api: mail }, testClient)).body).aud).toBe(mail)
    const { status, body } = await f.post('token', { ...form, api: orders }, testClient)
    expect([status, body.error]).toEqual([400, 'invalid_target'])
  })
})
