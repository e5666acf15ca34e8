/**
 * Attack: a thief has a token that is bound to a key, but not the key. The thief tries to use the token elsewhere, to
 * exchange it for one without a key, or to have it accepted as a bearer token. In the last cases, a plugin is defective
 * or hostile.
 *
 * RFC 9449 section 7.2 and RFC 8705 section 3: a bound token must never be accepted without its key.
 */
import { defineGrant, definePlugin, defineTokenBinding, type Proof, type TokenBinding } from '@grantry/core'
import { tokenExchange } from '@grantry/plugins/token-exchange'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { callUserinfo, requestTokens } from '../bindings/send.ts'
import { certificate, dpop, keyHolder } from '../dpop/dpop.ts'
import { builtInPlugins, clients, fixture, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const exchangeType = 'urn:ietf:params:oauth:grant-type:token-exchange'
const scope = 'openid offline_access api1'
const password = { grant_type: 'password', username: 'alice', password: 'alice-password', scope }

const withGrantType = (grantType: string) =>
  clients.map((client) => ({
    ...client,
    grantTypes: [...(client.grantTypes ?? []), ...(client.public ? [] : [grantType])],
  }))

describe('a stolen token cannot be exchanged', () => {
  const start = () =>
    fixture({
      plugins: [builtInPlugins, dpop(), tokenExchange({ allow: () => ({ scopes: ['api1'] }) })],
      clients: withGrantType(exchangeType),
    })
  const typeOf = (name: string) => `urn:ietf:params:oauth:token-type:${name}`

  test.each(['without a proof', 'with a proof of another key'])('%s', async (how) => {
    const [f, key, another] = [await start(), await keyHolder(), await keyHolder()]
    const { body } = await requestTokens(f, password, { as: web, key })
    const form = { grant_type: exchangeType, subject_token: body.access_token, scope: 'api1' }
    const proving = { as: web, key: how.startsWith('without') ? undefined : another }
    const stolen = await requestTokens(f, { ...form, subject_token_type: typeOf('access_token') }, proving)
    expect([stolen.status, stolen.body.access_token]).toEqual([400, undefined])
  })

  test('but its owner can, for a token that is bound to the same key', async () => {
    const [f, key] = [await start(), await keyHolder()]
    const { body } = await requestTokens(f, password, { as: web, key })
    const form = { grant_type: exchangeType, subject_token: body.access_token, scope: 'api1' }
    const { body: exchanged } = await requestTokens(
      f,
      { ...form, subject_token_type: typeOf('access_token') },
      { as: web, key },
    )
    expect(exchanged.token_type).toBe('DPoP')
    expect((await f.provider.inspect(exchanged.access_token)).claims.cnf).toEqual({ jkt: key.thumbprint })
  })
})

describe('a stolen refresh token that is bound', () => {
  const grantType = 'urn:example:continue'
  const headers = { 'test-certificate': 'mine' }
  /** Continues the family of a refresh token without its rotation. */
  const continuing = defineGrant({
    grantType,
    params: v.object({ refresh_token: v.string() }),
    async handle({ params, scopes }, kit) {
      const stored = await kit.findGrant('refresh', params.refresh_token)
      return { subject: stored?.subject, scopes, continuesFamilyOf: stored }
    },
  })
  const start = () =>
    fixture({ plugins: [builtInPlugins, certificate(), continuing], clients: withGrantType(grantType) })

  test.each(['refresh_token', grantType])('cannot be used with the grant type %s', async (type) => {
    const f = await start()
    const { body } = await requestTokens(f, password, { as: web, headers })
    const form = { grant_type: type, refresh_token: body.refresh_token, scope: 'api1' }
    const stolen = await requestTokens(f, form, { as: web, headers: { 'test-certificate': 'other' } })
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant'])
    expect(f.events.at(-1)).toMatchObject({ reason: 'wrong_key' })
    // The refusal has spent nothing.
    expect((await requestTokens(f, form, { as: web, headers })).status).toBe(200)
  })
})

describe('a defective plugin', () => {
  const bindingWith = (more: Partial<TokenBinding>) =>
    definePlugin('broken', [
      defineTokenBinding({
        member: 'jkt',
        scheme: 'Key',
        exposedHeaders: ['key-nonce'],
        prove: () => undefined,
        ...more,
      }),
    ])

  test.each<[string, unknown]>([
    ['text', 'thumbprint'],
    ['no key', {}],
    ['an empty key', { key: '' }],
    ['a key that is too long', { key: 'k'.repeat(256) }],
    ['a key that is not text', { key: { toString: () => 'k' } }],
    ['another header', { key: 'k', headers: { 'set-cookie': 'a=b' } }],
    ['a header with a line break', { key: 'k', headers: { 'key-nonce': 'a\r\nset-cookie: a=b' } }],
  ])('that returns %s as a proof gets no token issued', async (_, proof) => {
    const f = await fixture({ plugins: [builtInPlugins, bindingWith({ prove: () => proof as Proof })] })
    const { status, body, headers } = await requestTokens(f, password, { as: web })
    expect([status, body, headers.get('set-cookie')]).toEqual([500, { error: 'server_error' }, null])
  })

  test('that rejects does not let a bound token pass', async () => {
    let isBroken = false
    const f = await fixture({
      plugins: [
        builtInPlugins,
        bindingWith({
          async prove() {
            if (isBroken) throw new Error('secret-detail')
            return { key: 'k' }
          },
        }),
      ],
    })
    const { body } = await requestTokens(f, password, { as: web })
    expect(body.token_type).toBe('Key')
    isBroken = true
    const response = await callUserinfo(f, body.access_token, { scheme: 'Key' })
    expect([response.status, response.body]).toEqual([500, { error: 'server_error' }])
    expect(f.events.at(-3)).toMatchObject({ type: 'validation_failed', reason: 'unhandled_failure' })
  })

  test('that proves another key of its own scheme does not leave the choice of token_type to chance', async () => {
    const second = definePlugin('second', [
      defineTokenBinding({ member: 'other', scheme: 'Other', prove: () => ({ key: 'o' }) }),
    ])
    const f = await fixture({ plugins: [builtInPlugins, bindingWith({ prove: () => ({ key: 'k' }) }), second] })
    const { status, body } = await requestTokens(f, password, { as: web })
    expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect(f.events.at(-1)).toMatchObject({ reason: 'several_proofs' })
  })
})

test('a grant cannot bind a token to a key that the request has not proved', async () => {
  const grant = testGrant({
    grantType: 'urn:example:forged',
    handle: ({ scopes }) => ({ scopes, claims: { cnf: { jkt: 'forged' } } }),
  })
  const f = await fixture({ plugins: [builtInPlugins, dpop(), grant], clients: withGrantType('urn:example:forged') })
  const { status } = await requestTokens(f, { grant_type: 'urn:example:forged', scope: 'api1' }, { as: web })
  expect(status).toBe(500)
})
