import { createHash } from 'node:crypto'
import { defineGrant, defineGrantCheck, definePlugin, type ProviderEvent } from '@grantry/core'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { basic, createTestProvider, mapDriver, read, sha256Of, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'

// The kit that plugin authors test with, through its public entry, with a third-party plugin.

const badges: Readonly<Record<string, string>> = { '123456': 'alice' }

const badgeGrant = () =>
  defineGrant({
    grantType: 'urn:example:badge',
    params: v.object({ badge_id: v.string() }),
    handle: ({ params, scopes }) => ({ subject: { sub: badges[params.badge_id] ?? 'none', amr: ['badge'] }, scopes }),
  })

const helloGrant = () => testGrant({ grantType: 'urn:example:hello', handle: ({ scopes }) => ({ scopes }) })

const check = () =>
  definePlugin('check', [
    defineGrantCheck({ settles: 'proof_key', grantTypes: ['urn:example:badge'], params: v.object({}), check() {} }),
  ])

const badge = { grant_type: 'urn:example:badge', badge_id: '123456', scope: 'api1' }

describe('createTestProvider()', () => {
  test('does what its example says', async () => {
    const { post } = await createTestProvider({ plugins: [badgeGrant()] })
    const { status, headers, body } = await post('token', badge, testClient)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'api1' })
  })

  test('lets the test client use every grant type of the plugins, nested or conditional', async () => {
    const { post, provider } = await createTestProvider({
      plugins: [false, null, [[badgeGrant()], check()], [undefined, [[[helloGrant()]]]]],
    })
    expect(provider.grantTypes).toEqual(['urn:example:badge', 'urn:example:hello'])
    const hello = await post('token', { grant_type: 'urn:example:hello', scope: 'api1' }, testClient)
    expect(hello.status).toBe(200)
    expect((await post('token', badge, testClient)).status).toBe(200)
  })

  test('accepts one plugin without a list', async () => {
    const { post } = await createTestProvider({ plugins: badgeGrant() })
    expect((await post('token', badge, testClient)).status).toBe(200)
  })

  test('lets the test client have a refresh token and the scopes of OpenID Connect', async () => {
    const { post } = await createTestProvider({ plugins: [badgeGrant(), refreshToken()] })
    const scope = 'openid profile offline_access api1'
    const { body } = await post('token', { ...badge, scope }, testClient)
    expect(body).toMatchObject({ scope, refresh_token: expect.any(String) })
  })

  test('posts without credentials unless a client is given', async () => {
    const { post } = await createTestProvider({ plugins: [badgeGrant()] })
    expect(await post('token', badge)).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect(await post('token', badge, [testClient[0], 'wrong'])).toMatchObject({ status: 401 })
    const [client_id, client_secret] = testClient
    expect(await post('token', { ...badge, client_id, client_secret })).toMatchObject({ status: 200 })
  })

  test('has the API api1 with a secret for introspection', async () => {
    const { post } = await createTestProvider({ plugins: [badgeGrant()] })
    const { access_token: token } = (await post('token', badge, testClient)).body
    const { body } = await post('introspection', { token }, ['api1', 'api1-secret'])
    expect(body).toMatchObject({ active: true, sub: 'alice', client_id: testClient[0], scope: 'api1' })
  })

  test('sends GET with a query and with headers', async () => {
    const { post, get } = await createTestProvider({ plugins: [badgeGrant()] })
    const { access_token: token } = (await post('token', { ...badge, scope: 'openid api1' }, testClient)).body
    const validated = await get('accessTokenValidation', { token, expectedScope: 'api1' })
    expect(validated).toMatchObject({ status: 200, body: { sub: 'alice', amr: ['badge'] } })
    const userinfo = await get('userinfo', {}, { authorization: `Bearer ${token}` })
    expect(userinfo).toMatchObject({ status: 200, body: { sub: 'alice' } })
    expect((await get('discovery')).body.grant_types_supported).toEqual(['urn:example:badge'])
  })

  test('has a clock that stands still until it is advanced', async () => {
    const { post, clock } = await createTestProvider({ plugins: [badgeGrant()] })
    const { access_token: token } = (await post('token', badge, testClient)).body
    const introspected = async () => (await post('introspection', { token }, ['api1', 'api1-secret'])).body
    const start = clock.now()
    expect(await introspected()).toMatchObject({ iat: start, exp: start + 3600 })
    clock.advance(3599)
    expect(await introspected()).toMatchObject({ active: true })
    clock.advance(1)
    expect(clock.now()).toBe(start + 3600)
    expect(await introspected()).toEqual({ active: false })
  })

  test('has every event available, from the start on', async () => {
    const { post, events, clock } = await createTestProvider({ plugins: [badgeGrant()] })
    // The test client has offline_access without the refresh token grant.
    expect(events.map(({ type }) => type)).toEqual(['startup_warning'])
    await post('token', badge, testClient)
    expect(events.slice(1).map(({ type }) => type)).toEqual([
      'client_authentication_succeeded',
      'token_issued',
      'endpoint_succeeded',
    ])
    expect(events.every(({ time }) => time === clock.now())).toBe(true)
  })

  test('passes events on to an observer of the test, whose failure has no effect', async () => {
    const seen: ProviderEvent[] = []
    const { post, events } = await createTestProvider({
      plugins: [badgeGrant()],
      observe(event) {
        seen.push(event)
        throw new Error('a defect of the observer')
      },
    })
    expect((await post('token', badge, testClient)).status).toBe(200)
    expect(seen).toEqual(events)
    expect(seen.length).toBeGreaterThan(1)
  })

  test('accepts other clients, scopes, storage and issuer', async () => {
    const items = new Map<string, string>()
    const { post, provider } = await createTestProvider({
      plugins: [badgeGrant()],
      issuer: 'https://id.example.com/tenant',
      storage: mapDriver(items),
      scopes: [{ name: 'doors' }],
      clients: [
        {
          clientId: 'gate',
          secrets: [{ sha256: sha256Of('gate-secret') }],
          grantTypes: ['urn:example:badge'],
          scopes: ['doors'],
          accessTokenFormat: 'reference',
        },
      ],
    })
    expect(provider.issuer).toBe('https://id.example.com/tenant')
    const response = await post('token', { ...badge, scope: 'doors' }, ['gate', 'gate-secret'])
    expect(response).toMatchObject({ status: 200, body: { scope: 'doors' } })
    expect([...items.keys()].filter((key) => key.startsWith('access:'))).toHaveLength(1)
    expect(await post('token', badge, testClient)).toMatchObject({ status: 401 })
  })

  test('creates independent providers with separate clocks', async () => {
    const first = await createTestProvider({ plugins: [badgeGrant()] })
    const second = await createTestProvider({ plugins: [badgeGrant()] })
    const { access_token: token } = (await first.post('token', badge, testClient)).body
    first.clock.advance(60)
    expect(second.clock.now()).toBe(first.clock.now() - 60)
    expect(await second.post('introspection', { token }, ['api1', 'api1-secret'])).toMatchObject({
      body: { active: false },
    })
    expect(second.events.some(({ type }) => type === 'token_issued')).toBe(false)
  })

  test('rejects as createProvider() does: a mistake in a plugin shows immediately', async () => {
    await expect(createTestProvider({ plugins: [badgeGrant(), badgeGrant()] })).rejects.toMatchObject({
      name: 'TypeError',
      message: 'plugins: two plugins have the name urn:example:badge; remove or rename one of them',
    })
    await expect(createTestProvider({ plugins: [], isuer: 1 } as never)).rejects.toThrow(/did you mean issuer/u)
  })

  test('shows a plugin that throws as the caller sees it: 500, and the cause in an event', async () => {
    const defect = new Error('badge reader offline at 10.0.0.7')
    const { post, events } = await createTestProvider({
      plugins: [{ ...badgeGrant(), handle: () => Promise.reject(defect) }],
    })
    expect(await post('token', badge, testClient)).toMatchObject({ status: 500, body: { error: 'server_error' } })
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'unhandled_failure',
        cause: expect.objectContaining({ message: defect.message }),
      }),
    )
  })
})

describe('the helpers of the kit', () => {
  test.each(['secret', '', 'geheim: ä€😀'])('sha256Of(%j) is the base64 of the SHA-256 of its UTF-8', (secret) => {
    expect(sha256Of(secret)).toBe(createHash('sha256').update(secret, 'utf8').digest('base64'))
  })

  test.each([
    ['web', 'secret'],
    ['web', 'a:b+c%d'],
    ['wëb', 'sécret😀'],
  ] as const)('basic([%j, %j]) follows the seed', (id, secret) => {
    expect(basic([id, secret])).toBe(`Basic ${Buffer.from(`${id}:${secret}`, 'utf8').toString('base64')}`)
  })

  test('read() returns the status, the headers and the parsed body; undefined for an empty one', async () => {
    const response = await read(new Response('{"a":1}', { status: 201, headers: { 'x-a': 'b' } }))
    expect(response).toMatchObject({ status: 201, body: { a: 1 } })
    expect(response.headers.get('x-a')).toBe('b')
    expect((await read(new Response(null, { status: 204 }))).body).toBeUndefined()
  })

  test('read() rejects a body that is not JSON: this provider never returns HTML', async () => {
    await expect(read(new Response('<html>'))).rejects.toThrow(SyntaxError)
  })
})
