/**
 * The JWTs of the core against jose, an independent implementation: we accept what jose signs with our key exactly if
 * jose does, and jose verifies what we sign.
 */
import fc from 'fast-check'
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWK, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { beforeAll, expect, test } from 'vitest'
import { type Fixture, fixture, webJwt } from '../support/fixture.ts'
import { isLong } from '../support/rounds.ts'

const issuer = 'https://id.example.com'
// The smallest tolerance that both apply to `nbf` and `exp` alike.
const clockTolerance = 5
const rule = { issuer, clockTolerance, typ: 'at+jwt', algorithms: ['ES256'], requiredClaims: ['exp', 'iat', 'nbf'] }
let f: Fixture
let key: CryptoKey
let keys: ReturnType<typeof createLocalJWKSet>
let good: JWTPayload

beforeAll(async () => {
  const pair = await generateKeyPair('ES256', { extractable: true })
  key = pair.privateKey
  const jwk: JWK = { ...(await exportJWK(key)), kid: 'ours', alg: 'ES256' }
  f = await fixture({ keys: [jwk], clockTolerance })
  const { body } = await f.get('jwks')
  keys = createLocalJWKSet(body)
  const token = (await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, webJwt)).body.access_token
  const verified = await jwtVerify(token, keys, { ...rule, currentDate: new Date(f.clock.now() * 1000) })
  good = verified.payload
  expect(verified.protectedHeader).toEqual({ alg: 'ES256', kid: 'ours', typ: 'at+jwt' })
})

async function verdicts(token: string): Promise<{ jose: boolean; ours: boolean }> {
  const jose = await jwtVerify(token, keys, { ...rule, currentDate: new Date(f.clock.now() * 1000) }).then(
    () => true,
    () => false,
  )
  return { jose, ours: (await f.post('accessTokenValidation', { token })).status === 200 }
}

const moment = fc.integer({ min: -200, max: 200 })
const odd = fc.constantFrom<unknown>('1', null, [], true, 1.5)
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

test('accepts a JWT signed by jose exactly if jose does, whatever its header and its times are', async () => {
  const outcomes = { true: 0, false: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        typ: fc.constantFrom('at+jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'JWT', 'at+jwt ', undefined),
        kid: fc.constantFrom('ours', 'ours', 'ours', 'ours', 'ours', 'ours', 'theirs', '', undefined),
        cty: optional(fc.constant('x')),
      }),
      fc.record({
        exp: optional(fc.integer({ min: -20, max: 200 })),
        nbf: optional(fc.integer({ min: -200, max: 20 })),
        iat: optional(moment),
        iss: fc.constantFrom(issuer, issuer, issuer, `${issuer}/`),
      }),
      fc.option(fc.record({ name: fc.constantFrom('exp', 'nbf', 'iat', 'iss'), value: odd }), {
        nil: undefined,
        freq: 2,
      }),
      async (header, times, wrong) => {
        const now = f.clock.now()
        const claims: Record<string, unknown> = { ...good }
        for (const [name, value] of Object.entries(times)) {
          if (value !== undefined) claims[name] = typeof value === 'number' ? now + value : value
        }
        if (wrong !== undefined) claims[wrong.name] = wrong.value
        const named = Object.fromEntries(Object.entries(header).filter(([, value]) => value !== undefined))
        const token = await new SignJWT(claims as JWTPayload).setProtectedHeader({ alg: 'ES256', ...named }).sign(key)
        const { jose, ours } = await verdicts(token)
        outcomes[`${ours}`] += 1
        // One exception, on the strict side: jose uses the only key if the header names none.
        if ('kid' in named) expect(ours).toBe(jose)
        else expect(ours).toBe(false)
      },
    ),
    { numRuns: isLong ? 20_000 : 200 },
  )
  expect(outcomes.true).toBeGreaterThan(5)
  expect(outcomes.false).toBeGreaterThan(20)
})

test('rejects everything that was changed after it was signed, whether jose accepts it or not', async () => {
  const token = await new SignJWT(good).setProtectedHeader({ alg: 'ES256', kid: 'ours', typ: 'at+jwt' }).sign(key)
  expect(await verdicts(token)).toEqual({ jose: true, ours: true })
  await fc.assert(
    fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...'AQgw_-.='), async (at, character) => {
      fc.pre(token[at] !== character)
      expect((await verdicts(token.slice(0, at) + character + token.slice(at + 1))).ours).toBe(false)
    }),
    { numRuns: isLong ? 20_000 : 100 },
  )
})
