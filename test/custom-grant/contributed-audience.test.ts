import { type Contribution, defineGrantCheck, definePlugin } from '@grantry/core'
import { createTestProvider, sha256Of, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { claimsOf } from '../support/claims-of.ts'
import { testGrant } from '../support/test-grant.ts'
import { clientId, mail, orders, secret, setUp } from './contributions.ts'

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
    // The scopes of other APIs are not granted (decision 151).
    expect([status, failure]).toEqual([400, 'plugin:refresh_token:scope_widened'])
  })

  test('at the authorization must be allowed by the scopes', async () => {
    const { code } = await setUp(api)
    await expect(code({ api: 'https://evil.example.com' })).rejects.toMatchObject({ code: 'invalid_target' })
  })

  test('is the one that every check allows', async () => {
    const otherCheck = definePlugin('other', [
      defineGrantCheck({ grantTypes: 'all', params: v.object({}), check: () => ({ audience: [orders] }) }),
    ])
    const { post } = await setUp([api, otherCheck])
    const form = { grant_type: 'client_credentials', scope: 'orders mail' }
    expect(claimsOf((await post('token', { ...form, api: `${mail},${orders}` }, testClient)).body).aud).toBe(orders)
    expect((await post('token', { ...form, api: mail }, testClient)).body.error).toBe('invalid_target')
  })
})

describe('the audience that a grant returns', () => {
  const grant = (audience: readonly string[]) =>
    testGrant({
      grantType: 'client_credentials',
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
    const narrow = testGrant({
      grantType: 'client_credentials',
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
