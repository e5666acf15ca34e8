import { deviceAuthorization } from '@grantry/plugins/device-authorization'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'
import { address, alice, clients, setUp, verificationUri } from './parties.ts'

describe('the user', () => {
  test.each(['WDJB-MJHT', 'wdjbmjht', ' wdjb mjht ', 'Wdjb.Mjht'])('can type the code as %j', async (typed) => {
    const { start, page, clock } = await setUp()
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
      expiresAt: clock.now() + 600,
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

  test('can guess as many codes as the option allows', async () => {
    const guesses = { failures: 1, window: 60 }
    const { start, page, clock } = await setUp({
      plugins: [deviceAuthorization({ verificationUri, guesses })],
      clients: clients.slice(1, 3),
    })
    const { body } = await start({ scope: 'api1', client_id: 'lamp' }, null)
    expect(await page.find('BCDF-GHJK', address)).toBeUndefined()
    await expect(page.find(body.user_code, address)).rejects.toMatchObject({ code: 'slow_down' })
    clock.advance(60)
    expect(await page.find(body.user_code, address)).toBeDefined()
  })

  test.each([
    [{ failures: 0 }, 'guesses.failures must be a whole number from 1 to 100'],
    [{ failures: 101 }, 'guesses.failures must be a whole number from 1 to 100'],
    [{ failures: '3' }, 'guesses.failures must be a whole number from 1 to 100'],
    [{ window: 0.5 }, 'guesses.window must be 1 to 86400 seconds'],
    [{ failure: 3 }, 'guesses.failure is not a known option; did you mean failures?'],
  ])('can guess no number of codes that %j does not determine', (guesses, message) => {
    expect(() => deviceAuthorization({ verificationUri, guesses: guesses as object })).toThrow(message)
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

test('an approval and a denial are events, only by what has decided', async () => {
  const { start, page, events } = await setUp()
  const decided = () => events.filter(({ type }) => type === 'consent_given' || type === 'authorization_denied')
  const circumstances = { clientId: 'tv', clientAddress: address }
  const { body } = await start()
  await page.approve(body.user_code, address, { subject: alice })
  await page.deny(body.user_code, address)
  expect(decided()).toMatchObject([{ type: 'consent_given', scopes: ['api1'], sub: 'alice', ...circumstances }])
  const { body: second } = await start()
  await page.deny(second.user_code, address, 'alice')
  expect(decided().slice(1)).toMatchObject([{ type: 'authorization_denied', sub: 'alice', ...circumstances }])
})
