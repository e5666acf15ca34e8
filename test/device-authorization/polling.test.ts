import { deviceAuthorization, deviceGrantType } from '@grantry/plugins/device-authorization'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import type { Credentials } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'
import { address, alice, clients, setUp, tv, verificationUri } from './parties.ts'

const deviceOnly = clients.slice(0, 1).map((client) => ({ ...client, grantTypes: [deviceGrantType] }))

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
    const [waiting, accepted] = [await start(), await start()]
    await page.approve(accepted.body.user_code, address, { subject: alice })
    clock.advance(600)
    expect((await poll(waiting.body.device_code)).body.error).toBe('expired_token')
    const approved = await poll(accepted.body.device_code)
    expect([approved.body.error, approved.failure]).toEqual([
      'expired_token',
      'plugin:device-authorization:code_expired',
    ])
    expect(await page.find(waiting.body.user_code, address)).toBeUndefined()
  })

  test.each([1, 2])('gets no 500 if a second begins during a poll, with an interval of %d', async (interval) => {
    let [time, reads, tickAt] = [1_800_000_000, 0, Number.POSITIVE_INFINITY]
    const now = () => {
      reads += 1
      if (reads === tickAt) time += 1
      return time
    }
    const plugins = deviceAuthorization({ verificationUri, interval })
    const { start, poll } = await setUp({ plugins, runtime: { now }, clients: deviceOnly })
    for (let tick = 1; tick <= 40; tick += 1) {
      const { body } = await start()
      tickAt = reads + tick
      const { status, body: pending } = await poll(body.device_code)
      expect([status, pending.error, tick]).toEqual([400, 'authorization_pending', tick])
    }
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
    ['the code of another client', undefined, ['other', 's'], 'invalid_grant', 'client_mismatch'],
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
    const { body: refused, failure } = await poll(body.device_code)
    expect([refused.error, failure]).toEqual(['expired_token', 'plugin:device-authorization:grant_revoked'])
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
