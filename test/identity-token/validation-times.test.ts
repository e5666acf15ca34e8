import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

const { privateKey } = await generateKeyPair('ES256', { extractable: true })
const jwk = { ...(await exportJWK(privateKey)), kid: 'ours', alg: 'ES256' }

const sign = (f: Fixture, claims: JWTPayload): Promise<string> => {
  const now = f.clock.now()
  const base = { iss: 'https://id.example.com', sub: '1', aud: 'web', exp: now + 300, iat: now, nbf: now }
  const payload = Object.fromEntries(Object.entries({ ...base, ...claims }).filter(([, value]) => value !== undefined))
  return new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'ours', typ: 'JWT' }).sign(privateKey)
}

const statusOf = async (f: Fixture, token: string): Promise<number> =>
  (await f.post('identityTokenValidation', { token, client_id: 'web' })).status

test('4.10 an issued token is valid until the second before exp, and no longer', async () => {
  const f = await fixture()
  const form = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
  const token = (await f.post('token', form, web)).body.id_token
  f.clock.advance(299)
  expect(await statusOf(f, token)).toBe(200)
  f.clock.advance(1)
  const response = await f.post('identityTokenValidation', { token, client_id: 'web' })
  expect(response.status).toBe(400)
  expect(response.body).toEqual({ error: 'invalid_token', error_description: 'The identity token is not valid' })
})

test('4.10 a token is not valid 6 seconds before nbf, and is from 5 seconds before it', async () => {
  const f = await fixture({ keys: [jwk] })
  const token = await sign(f, { nbf: f.clock.now() + 7 })
  f.clock.advance(1)
  expect(await statusOf(f, token)).toBe(400)
  f.clock.advance(1)
  expect(await statusOf(f, token)).toBe(200)
})

test.each(['exp', 'nbf', 'iat'])('4.10 rejects a token without %s', async (name) => {
  const f = await fixture({ keys: [jwk] })
  expect(await statusOf(f, await sign(f, {}))).toBe(200)
  expect(await statusOf(f, await sign(f, { [name]: undefined }))).toBe(400)
})

test.each([
  ['exp', '1900000000'],
  ['nbf', '1'],
] as const)('4.10 rejects a token whose %s is not a number (%s)', async (name, value) => {
  const f = await fixture({ keys: [jwk] })
  expect(await statusOf(f, await sign(f, { [name]: value as unknown as number }))).toBe(400)
})

test.each([0, 1, 5, 6, 60])(
  '4.11 a tolerance of %i seconds moves exp by exactly that much, and nbf by at least 5',
  async (clockTolerance) => {
    const f = await fixture({ keys: [jwk], clockTolerance })
    const now = f.clock.now()
    const ahead = Math.max(5, clockTolerance)
    expect(await statusOf(f, await sign(f, { exp: now - clockTolerance + 1 }))).toBe(200)
    expect(await statusOf(f, await sign(f, { exp: now - clockTolerance }))).toBe(400)
    expect(await statusOf(f, await sign(f, { nbf: now + ahead }))).toBe(200)
    expect(await statusOf(f, await sign(f, { nbf: now + ahead + 1 }))).toBe(400)
  },
)

test.each([61, -1, Number.NaN, Number.POSITIVE_INFINITY])(
  '4.11 rejects a tolerance of %d seconds at start',
  async (clockTolerance) => {
    await expect(fixture({ clockTolerance })).rejects.toThrow(/clockTolerance must be/u)
  },
)
