// A revocation that returned 200 although the token still works.
import type { AtomicDriver, ProviderOptions } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestClock, mapDriver } from '@grantry/testing'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { api1, clients, type Fixture, fixture, web, webJwt } from '../support/fixture.ts'
import { dead, expectRevoked, issueTokens, judged, refresh } from '../support/revocation.ts'

const isActive = async (f: Fixture, token: string): Promise<boolean> =>
  (await f.post('introspection', { token }, api1)).body.active

test.each([['no jti', {}] as const, ['a number as jti', { jti: 7 }] as const])(
  'a revocation of a JWT of our keys with %s, which is valid, ends it',
  async (_what, more) => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const f = await fixture({ keys: [{ ...(await exportJWK(privateKey)), kid: 'ours' }] as ProviderOptions['keys'] })
    const now = f.clock.now()
    const times = { iat: now, nbf: now, exp: now + 3600 }
    const about = { iss: 'https://id.example.com', aud: 'https://api1.example.com', scope: 'api1' }
    const token = await new SignJWT({ ...about, ...times, client_id: webJwt[0], ...more } as unknown as JWTPayload)
      .setProtectedHeader({ alg: 'ES256', kid: 'ours', typ: 'at+jwt' })
      .sign(privateKey)
    expectRevoked(await f.post('revocation', { token }, webJwt))
    expect(await isActive(f, token)).toBe(false)
  },
)

/** The file drivers of unstorage do this: they resolve to an error instead of rejecting. */
function returning(method: 'insertItem' | 'removeItem') {
  const driver = mapDriver()
  const state = { fails: false }
  const storage = {
    ...driver,
    [method]: (...parameters: readonly never[]) =>
      state.fails
        ? Promise.resolve(new Error('EACCES: permission denied'))
        : (driver[method] as (...all: readonly never[]) => unknown)(...parameters),
  } as AtomicDriver
  return { storage, state }
}

test('a revocation of a reference token is 503 if removeItem() resolves to an error', async () => {
  const { storage, state } = returning('removeItem')
  const f = await fixture({ storage })
  const { access_token: token } = await issueTokens(f)
  state.fails = true
  expect((await f.post('revocation', { token }, web)).status).toBe(503)
})

test('a revocation of a family is 503 if insertItem() resolves to an error', async () => {
  const { storage, state } = returning('insertItem')
  const f = await fixture({ storage })
  const { refresh_token: token } = await issueTokens(f)
  state.fails = true
  expect((await f.post('revocation', { token }, web)).status).toBe(503)
})

test('a revocation of a refresh token that has expired ends the access tokens of its family', async () => {
  const clock = createTestClock()
  const f = await fixture({
    storage: mapDriver(new Map(), clock.now),
    runtime: { now: clock.now },
    clients: [{ ...clients[0], clientId: web[0], refreshToken: { slidingLifetime: 600 } }],
  })
  const issued = await issueTokens(f)
  clock.advance(601)
  expect((await refresh(f, issued.refresh_token)).status).toBe(400)
  expectRevoked(await f.post('revocation', { token: issued.refresh_token }, web))
  expect(await judged(f, issued.access_token)).toEqual(dead)
})

test('a revocation of a JWT holds at another provider on the same memory after the first one was closed', async () => {
  const storage = memoryDriver()
  const [closing, remaining] = [await fixture({ storage }), await fixture({ storage })]
  const { access_token: token } = await issueTokens(closing, webJwt)
  expectRevoked(await closing.post('revocation', { token }, webJwt))
  await closing.provider.close()
  expect(await isActive(remaining, token)).toBe(false)
})
