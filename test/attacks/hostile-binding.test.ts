/**
 * Attack: a plugin that is defective or hostile changes which key a token is bound to, or what a response contains,
 * after the core has checked it; or its binding is weaker than it looks.
 *
 * RFC 9449 section 7.2 and RFC 8705 section 3: a bound token must never be accepted without its key.
 */
import {
  defineGrantCheck,
  definePlugin,
  defineTokenBinding,
  OAuthError,
  type Proof,
  type TokenBinding,
} from '@grantry/core'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { requestTokens } from '../bindings/send.ts'
import { builtInPlugins, clients, fixture, web } from '../support/fixture.ts'
import { testGrant } from '../support/test-grant.ts'

const grantType = 'urn:example:hostile'
const withGrantType = clients.map((client) => ({
  ...client,
  grantTypes: [...(client.grantTypes ?? []), ...(client.public ? [] : [grantType])],
}))
const password = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'offline_access api1' }

const bindingWith = (more: Partial<TokenBinding> = {}) =>
  defineTokenBinding({
    member: 'jkt',
    scheme: 'Key',
    exposedHeaders: ['key-nonce'],
    prove: () => ({ key: 'k' }),
    ...more,
  })

/** Headers that pass the first look, and become others. */
function changingHeaders(): Record<string, string> {
  let looks = 0
  return new Proxy(
    { 'key-nonce': 'n', 'set-cookie': 'a=b' },
    {
      ownKeys() {
        looks += 1
        return looks === 1 ? ['key-nonce'] : ['key-nonce', 'set-cookie']
      },
    },
  )
}

describe('the proved keys', () => {
  const change = (confirmation: unknown): void => {
    Object.assign(confirmation as object, { jkt: 'forged' })
  }
  test('cannot be changed by a grant', async () => {
    const grant = testGrant({
      grantType,
      handle({ scopes, confirmation }) {
        change(confirmation)
        return { scopes }
      },
    })
    const f = await fixture({
      plugins: [builtInPlugins, definePlugin('binding', [bindingWith()]), grant],
      clients: withGrantType,
    })
    const { status, body } = await requestTokens(f, { grant_type: grantType, scope: 'api1' }, { as: web })
    expect([status, body]).toEqual([500, { error: 'server_error' }])
  })

  test('cannot be changed by a grant check', async () => {
    const check = defineGrantCheck({
      grantTypes: ['password'],
      params: v.object({}),
      check({ confirmation }) {
        change(confirmation)
        return undefined
      },
    })
    const f = await fixture({ plugins: [builtInPlugins, definePlugin('binding', [bindingWith(), check])] })
    expect((await requestTokens(f, password, { as: web })).status).toBe(500)
  })
})

describe('headers that change after they were checked', () => {
  test('are not sent with a proof', async () => {
    const prove = (): Proof => ({ key: 'k', headers: changingHeaders() })
    const f = await fixture({ plugins: [builtInPlugins, definePlugin('binding', [bindingWith({ prove })])] })
    const { status, headers } = await requestTokens(f, password, { as: web })
    expect([status, headers.get('key-nonce'), headers.get('set-cookie')]).toEqual([200, 'n', null])
  })

  test('are not sent with an error', async () => {
    const prove = () => {
      throw new OAuthError('invalid_request', 'No', { reason: 'plugin:binding:no', headers: changingHeaders() })
    }
    const f = await fixture({ plugins: [builtInPlugins, definePlugin('binding', [bindingWith({ prove })])] })
    const { status, headers } = await requestTokens(f, password, { as: web })
    expect([status, headers.get('set-cookie')]).toEqual([400, null])
  })
})

describe('a proof that is accepted once', () => {
  const now = 1_800_000_000
  const once = { id: 'a', expiresAt: now + 60, refuse: () => new OAuthError('invalid_grant', 'No', { reason: 'used' }) }
  const withOnce = (hostile: unknown) =>
    fixture({
      plugins: [
        builtInPlugins,
        definePlugin('binding', [
          bindingWith({ prove: () => ({ key: 'k', once: hostile as NonNullable<Proof['once']> }) }),
        ]),
      ],
    })

  test.each<[string, unknown]>([
    ['is not an object', 'a'],
    ['is null', null],
    ['has no id', { ...once, id: undefined }],
    ['has an empty id', { ...once, id: '' }],
    ['has an id that is not text', { ...once, id: 7 }],
    ['has no end', { ...once, expiresAt: undefined }],
    ['has an end that has passed', { ...once, expiresAt: now }],
    ['has a duration for an end', { ...once, expiresAt: 60 }],
    ['ends never', { ...once, expiresAt: Number.POSITIVE_INFINITY }],
    ['has an end that is not a number', { ...once, expiresAt: String(now + 60) }],
    ['cannot be refused', { ...once, refuse: undefined }],
  ])('gets no token if it %s', async (_, hostile) => {
    const f = await withOnce(hostile)
    expect((await requestTokens(f, password, { as: web })).status).toBe(500)
  })

  test.each<[string, unknown]>([
    ['the refusal', once],
    ['a refusal that returns nothing', { ...once, refuse: () => undefined }],
    ['a refusal that is a promise', { ...once, refuse: async () => once.refuse() }],
  ])('gets no second token, with %s', async (_, hostile) => {
    const f = await withOnce(hostile)
    expect((await requestTokens(f, password, { as: web })).status).toBe(200)
    const { status, body } = await requestTokens(f, password, { as: web })
    expect(status).toBeGreaterThanOrEqual(400)
    expect(body.access_token).toBeUndefined()
  })
})

test.each<[string, unknown]>([
  ['a promise', Promise.resolve(true)],
  ['a number', 1],
  ['nothing', undefined],
])('bindsRefreshTokens that returns %s does not leave a refresh token unbound', async (_, answer) => {
  const bindsRefreshTokens = () => answer as boolean
  const f = await fixture({ plugins: [builtInPlugins, definePlugin('binding', [bindingWith({ bindsRefreshTokens })])] })
  const { status, body } = await requestTokens(f, password, { as: web })
  expect([status, body]).toEqual([500, { error: 'server_error' }])
})
