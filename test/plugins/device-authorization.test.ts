import type { ClientOptions } from '@grantry/core'
import { type Credentials, createTestProvider, sha256Of, type TestProviderOptions } from '@grantry/core/testing'
import { createDeviceVerification, deviceAuthorization, deviceGrantType } from '@grantry/plugins/device-authorization'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'

const tv: Credentials = ['tv', 'tv-secret']
const address = '192.0.2.1'
const alice = { sub: 'alice', amr: ['pwd'] }
const verificationUri = 'https://example.com/device'

const clients: readonly ClientOptions[] = [
  {
    clientId: tv[0],
    secrets: [{ sha256: sha256Of(tv[1]) }],
    grantTypes: [deviceGrantType, 'refresh_token'],
    scopes: ['openid', 'offline_access', 'api1'],
    accessTokenFormat: 'reference',
  },
  { clientId: 'lamp', public: true, grantTypes: [deviceGrantType], scopes: ['api1'] },
  { clientId: 'other', secrets: [{ sha256: sha256Of('s') }], grantTypes: [deviceGrantType], scopes: ['api1'] },
  { clientId: 'web', secrets: [{ sha256: sha256Of('s') }], grantTypes: ['refresh_token'], scopes: ['api1'] },
]

async function setUp(more: Partial<TestProviderOptions> = {}) {
  const f = await createTestProvider({
    plugins: [deviceAuthorization({ verificationUri }), refreshToken()],
    clients,
    ...more,
  })
  const start = (form: Record<string, string> = { scope: 'api1' }, as: Credentials | null = tv) =>
    f.post('deviceAuthorization', form, as ?? undefined)
  const poll = (deviceCode: string, as: Credentials | undefined = tv, more: Record<string, string> = {}) =>
    f.post('token', { grant_type: deviceGrantType, device_code: deviceCode, ...more }, as)
  return { ...f, start, poll, page: createDeviceVerification(f.provider) }
}

describe('the device authorization request', () => {
  test('returns the codes (RFC 8628 section 3.2)', async () => {
    const { start } = await setUp()
    const { status, headers, body } = await start()
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/u),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/u),
      verification_uri: verificationUri,
      verification_uri_complete: `${verificationUri}?user_code=${body.user_code}`,
      expires_in: 600,
      interval: 5,
    })
  })

  test('is announced in the discovery document', async () => {
    const { provider } = await setUp()
    expect(provider.metadata).toMatchObject({
      device_authorization_endpoint: 'https://id.example.com/connect/deviceauthorization',
      grant_types_supported: [deviceGrantType, 'refresh_token'],
    })
  })

  test('of a public client needs only its id', async () => {
    const { start } = await setUp()
    expect((await start({ client_id: 'lamp', scope: 'api1' }, null)).status).toBe(200)
  })

  test.each<[string, Record<string, string>, Credentials, number, string]>([
    ['without a scope', {}, tv, 400, 'invalid_scope'],
    ['with an unknown scope', { scope: 'api9' }, tv, 400, 'invalid_scope'],
    ['with a wrong secret', { scope: 'api1' }, ['tv', 'wrong'], 401, 'invalid_client'],
    ['of a client without the grant type', { scope: 'api1' }, ['web', 's'], 400, 'unauthorized_client'],
  ])('%s is refused', async (_, form, as, status, error) => {
    const { start } = await setUp()
    const response = await start(form, as)
    expect([response.status, response.body.error]).toEqual([status, error])
  })

  test('keeps the query of the verification URI', async () => {
    const uri = 'https://example.com/device?lang=en'
    const { start } = await setUp({ plugins: [deviceAuthorization({ verificationUri: uri }), refreshToken()] })
    const { body } = await start()
    expect(body.verification_uri_complete).toBe(`${uri}&user_code=${body.user_code}`)
  })

  test.each([
    [{ verificationUri: 'device' }, /verificationUri must be a URL/u],
    [{ verificationUri, lifetime: 0 }, /lifetime must be at least 1 second/u],
    [{ verificationUri, interval: 61 }, /interval must be at most 60 seconds/u],
    [{ verificationUri, intervall: 5 }, /deviceAuthorization\(\): intervall/u],
  ])('an option that is malformed is an error at startup: %j', (options, message) => {
    expect(() => deviceAuthorization(options)).toThrow(message)
  })
})

describe('the user', () => {
  test.each(['WDJB-MJHT', 'wdjbmjht', ' wdjb mjht ', 'Wdjb.Mjht'])('can type the code as %j', async (typed) => {
    const { start, page, provider } = await setUp()
    const { body } = await start()
    // The same spelling of the real code.
    const letters = [...body.user_code.replace('-', '')]
    const spelled = typed.replace(/[a-z]/giu, (letter) => {
      const next = letters.shift() ?? ''
      return letter === letter.toLowerCase() ? next.toLowerCase() : next
    })
    expect(await page.find(spelled, address)).toEqual({
      userCode: body.user_code,
      clientId: 'tv',
      scopes: ['api1'],
      expiresAt: provider.kit('device-authorization').now() + 600,
    })
  })

  test.each(['', 'WDJB', 'WDJB-MJHTX', 'AEIO-UAEI', '1234-5678', 'x'.repeat(1000)])(
    'finds nothing under %j',
    async (typed) => {
      const { page } = await setUp()
      expect(await page.find(typed, address)).toBeUndefined()
    },
  )

  test('can guess ten codes from one address in ten minutes', async () => {
    const { start, page, clock } = await setUp({
      plugins: [deviceAuthorization({ verificationUri, lifetime: 3600 })],
      clients: clients.slice(1, 3),
    })
    const { body } = await start({ scope: 'api1', client_id: 'lamp' }, null)
    for (let guess = 0; guess < 10; guess += 1) expect(await page.find('BCDF-GHJK', address)).toBeUndefined()
    for (const attempt of [
      () => page.find(body.user_code, address),
      () => page.approve(body.user_code, address, { subject: alice }),
      () => page.deny(body.user_code, address),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ code: 'slow_down', details: { status: 429 } })
    }
    expect(await page.find(body.user_code, '198.51.100.7')).toBeDefined()
    clock.advance(600)
    expect(await page.find(body.user_code, address)).toBeDefined()
  })

  test('cannot decide twice', async () => {
    const { start, page } = await setUp()
    for (const first of ['approve', 'deny'] as const) {
      const { body } = await start()
      const code = body.user_code
      expect(
        first === 'deny' ? await page.deny(code, address) : await page.approve(code, address, { subject: alice }),
      ).toBe(true)
      expect(await page.find(code, address)).toBeUndefined()
      expect(await page.approve(code, address, { subject: alice })).toBe(false)
      expect(await page.deny(code, address)).toBe(false)
    }
  })

  test('grants no more than was requested', async () => {
    const { start, poll, page } = await setUp()
    const { body } = await start({ scope: 'openid api1' })
    const more = page.approve(body.user_code, address, { subject: alice, scopes: ['api1', 'offline_access'] })
    await expect(more).rejects.toMatchObject({ code: 'invalid_scope' })
    expect(await page.approve(body.user_code, address, { subject: alice, scopes: ['api1'] })).toBe(true)
    expect((await poll(body.device_code)).body.scope).toBe('api1')
  })

  test('of two concurrent decisions, one counts', async () => {
    const { start, page, poll } = await setUp({ storage: withLatency(memoryDriver()) })
    const { body } = await start()
    const mallory = { sub: 'mallory', amr: ['pwd'] }
    const decided = await Promise.all([
      page.approve(body.user_code, address, { subject: alice }),
      page.approve(body.user_code, address, { subject: mallory }),
      page.deny(body.user_code, address),
    ])
    expect(decided.filter(Boolean)).toHaveLength(1)
    const { body: polled } = await poll(body.device_code)
    expect(polled.error === 'access_denied' || polled.access_token !== undefined).toBe(true)
    expect(polled.error === 'access_denied').toBe(decided[2])
  })
})

describe('the device', () => {
  test('polls until the user approves, and gets tokens once (RFC 8628 section 3.5)', async () => {
    const { start, poll, page, clock, post } = await setUp()
    const { body } = await start({ scope: 'openid offline_access api1' })
    for (let time = 0; time < 3; time += 1) {
      const { status, body: pending } = await poll(body.device_code)
      expect([status, pending.error]).toEqual([400, 'authorization_pending'])
      clock.advance(5)
    }
    expect(await page.approve(body.user_code, address, { subject: alice })).toBe(true)
    const { status, body: tokens } = await poll(body.device_code)
    expect(status).toBe(200)
    expect(tokens).toMatchObject({ scope: 'openid offline_access api1', id_token: expect.any(String) })
    clock.advance(5)
    expect((await poll(body.device_code)).body.error).toBe('invalid_grant')
    // A second use is a sign of theft, as for a code.
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }
    expect((await post('token', form, tv)).body.error).toBe('invalid_grant')
  })

  test('learns that the user has denied', async () => {
    const { start, poll, page } = await setUp()
    const { body } = await start()
    await page.deny(body.user_code, address)
    expect((await poll(body.device_code)).body).toEqual({
      error: 'access_denied',
      error_description: 'The user has denied the request',
    })
  })

  test('learns that its code has expired, also if it was approved', async () => {
    const { start, poll, page, clock } = await setUp()
    const [one, two] = [await start(), await start()]
    await page.approve(two.body.user_code, address, { subject: alice })
    clock.advance(600)
    expect((await poll(one.body.device_code)).body.error).toBe('expired_token')
    expect((await poll(two.body.device_code)).body.error).toBe('expired_token')
    expect(await page.find(one.body.user_code, address)).toBeUndefined()
  })

  test('must slow down if it polls too early, by five seconds each time', async () => {
    const { start, poll, clock } = await setUp()
    const { body } = await start()
    const error = async () => (await poll(body.device_code)).body.error
    expect(await error()).toBe('authorization_pending')
    clock.advance(3)
    expect(await error()).toBe('slow_down')
    clock.advance(2)
    // The request that came too early does not count against the first one.
    expect(await error()).toBe('authorization_pending')
    clock.advance(8)
    expect(await error()).toBe('slow_down')
    clock.advance(1)
    expect(await error()).toBe('authorization_pending')
    clock.advance(13)
    expect(await error()).toBe('slow_down')
    clock.advance(1)
    expect(await error()).toBe('authorization_pending')
  })

  test('of many concurrent requests, one is answered and gets the tokens', async () => {
    const { start, poll, page } = await setUp({ storage: withLatency(memoryDriver()) })
    const { body } = await start()
    await page.approve(body.user_code, address, { subject: alice })
    const responses = await Promise.all(Array.from({ length: 20 }, () => poll(body.device_code)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    const errors = new Set(responses.flatMap(({ body: { error } }) => error ?? []))
    expect([...errors]).toEqual(['slow_down'])
  })

  test.each<[string, string | undefined, Credentials, string, string]>([
    ['an unknown code', 'x'.repeat(43), tv, 'invalid_grant', 'plugin:device-authorization:code_unknown'],
    [
      'the code of another client',
      undefined,
      ['other', 's'],
      'invalid_grant',
      'plugin:device-authorization:client_mismatch',
    ],
    ['an overlong code', 'x'.repeat(513), tv, 'invalid_request', 'parameter_malformed'],
    ['no code', '', tv, 'invalid_request', 'parameter_missing'],
  ])('is refused with %s', async (_, code, as, error, reason) => {
    const { start, poll } = await setUp()
    const { body } = await start()
    const { status, body: refused, failure } = await poll(code ?? body.device_code, as)
    expect([status, refused.error, failure]).toEqual([400, error, reason])
  })

  test('of another client does not use up the interval of the right one', async () => {
    const { start, poll } = await setUp()
    const { body } = await start()
    await poll(body.device_code, ['other', 's'])
    expect((await poll(body.device_code)).body.error).toBe('authorization_pending')
  })

  test('gets nothing once the user is revoked after the approval', async () => {
    const { start, poll, page, provider } = await setUp()
    const { body } = await start()
    await page.approve(body.user_code, address, { subject: alice })
    await provider.revoke({ subject: 'alice' })
    expect((await poll(body.device_code)).body).not.toHaveProperty('access_token')
  })
})

test('no code is in the storage or in an event', async () => {
  const storage = memoryDriver()
  const { start, poll, page, events } = await setUp({ storage })
  const { body } = await start()
  await page.find(body.user_code, address)
  await page.approve(body.user_code, address, { subject: alice })
  await poll(body.device_code)
  const keys = await storage.getKeys('', {})
  const stored = JSON.stringify([keys, await Promise.all(keys.map((key) => storage.getItem(key)))])
  for (const text of [stored, JSON.stringify(events)]) {
    expect(text).not.toContain(body.device_code)
    expect(text).not.toContain(body.user_code)
    expect(text).not.toContain(body.user_code.replace('-', ''))
  }
})
