import { mapDriver } from '@grantry/testing'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import {
  alteration,
  expiry,
  inactiveUser,
  lostClient,
  otherCredentials,
  revokedFamily,
  type Verdict,
} from '../endpoints/token-endings.ts'
import { formats, tokenOfAlice } from '../support/access-token.ts'
import { clients, type Fixture, fixture, scopes, web, webJwt } from '../support/fixture.ts'

const { privateKey } = await generateKeyPair('ES256', { extractable: true })
const jwk = { ...(await exportJWK(privateKey)), kid: 'ours', alg: 'ES256' }

const accessToken = (f: Fixture, client: typeof web) => tokenOfAlice(f, client, 'openid api1')

const validate = (f: Fixture, token: string) => f.post('accessTokenValidation', { token })

async function expectInvalid(f: Fixture, token: string, reason: string): Promise<void> {
  for (const response of [await validate(f, token), await f.get('accessTokenValidation', { token })]) {
    expect(response.status).toBe(400)
    // The same bytes for every reason.
    expect(response.body).toEqual({ error: 'invalid_token', error_description: 'The access token is not valid' })
  }
  expect(f.events.at(-2)).toMatchObject({ type: 'validation_failed', tokenType: 'access_token', reason })
  expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 400, error: 'invalid_token', reason })
}

const verdict: Verdict = {
  scope: 'openid api1',
  accepted: async (f, token) => expect((await validate(f, token)).status).toBe(200),
  refused: expectInvalid,
}

describe.each(formats)('a %s', (_, client) => {
  test('6.5 is valid until the second before exp, and no longer', () => expiry(verdict, client))

  test('6.5 has the lifetime of its client', async () => {
    const f = await fixture({ clients: clients.map((known) => ({ ...known, accessTokenLifetime: 1 })) })
    const token = await accessToken(f, client)
    expect((await validate(f, token)).body.exp).toBe(f.clock.now() + 1)
    f.clock.advance(1)
    await expectInvalid(f, token, 'token_unknown')
  })

  test('6.5 is invalid once its family is revoked', () => revokedFamily(verdict, client))

  test('6.5 is invalid once its client is disabled or gone', () => lostClient(verdict, client))

  test('6.5 is invalid while its user is inactive', () => inactiveUser(verdict, client))

  test('6.5 is invalid after its API changes its audience', async () => {
    const storage = mapDriver()
    const before = await fixture({ keys: [jwk], storage })
    const token = await accessToken(before, client)
    const moved = scopes.map((scope) => ({ ...scope, audience: 'https://moved.example.com' }))
    const after = await fixture({ keys: [jwk], storage, scopes: moved })
    expect((await validate(before, token)).status).toBe(200)
    await expectInvalid(after, token, 'wrong_audience')
  })

  test('6.5 a token of another provider is unknown', async () => {
    const token = await accessToken(await fixture({ keys: [jwk] }), client)
    await expectInvalid(await fixture(), token, 'token_unknown')
  })

  test('6.5 is invalid when one character is changed, removed or added', async () => {
    await alteration(verdict, client)
    const f = await fixture()
    await expectInvalid(f, ` ${await accessToken(f, client)}`, 'token_unknown')
  })
})

test('6.5 a clock tolerance extends a JWT and a reference token equally', async () => {
  const f = await fixture({ clockTolerance: 5 })
  const jwt = await accessToken(f, webJwt)
  const reference = await accessToken(f, web)
  f.clock.advance(3599)
  for (let second = 3599; second < 3607; second += 1) {
    const statuses = [(await validate(f, jwt)).status, (await validate(f, reference)).status]
    expect({ second, statuses }).toEqual({ second, statuses: [statuses[0], statuses[0]] })
    f.clock.advance(1)
  }
  expect((await validate(f, jwt)).status).toBe(400)
})

test('6.5 rejects a code, a refresh token and an identity token', () => otherCredentials(verdict))

describe('a JWT signed with our key', () => {
  const base = (f: Fixture): JWTPayload => {
    const now = f.clock.now()
    const times = { iat: now, nbf: now, exp: now + 60 }
    return { ...times, iss: 'https://id.example.com', aud: 'https://api1.example.com', client_id: 'web', scope: 'api1' }
  }
  const sign = (claims: JWTPayload, typ = 'at+jwt') =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'ours', typ }).sign(privateKey)

  test.each([
    ['another typ', { typ: 'JWT' }, {}, 'token_unknown'],
    ['another issuer', {}, { iss: 'https://elsewhere.example.com' }, 'token_unknown'],
    ['another audience', {}, { aud: 'https://elsewhere.example.com' }, 'wrong_audience'],
    ['the client as audience', {}, { aud: 'web' }, 'wrong_audience'],
    ['the audience of an API whose scope it does not hold', {}, { scope: 'api2' }, 'wrong_audience'],
    ['a start in the future', {}, { nbf: 1_800_000_006 }, 'token_unknown'],
    ['no client', {}, { client_id: undefined }, 'token_not_ours'],
    ['an unknown client', {}, { client_id: 'gone' }, 'client_disabled'],
    ['scopes in an array', {}, { scope: ['api1'] }, 'token_not_ours'],
    ['an unknown user', {}, { sub: '404' }, 'user_inactive'],
  ])('6.5 is invalid with %s', async (_, { typ }: { typ?: string }, claims, reason) => {
    const f = await fixture({ keys: [jwk] })
    expect((await validate(f, await sign(base(f)))).status).toBe(200)
    await expectInvalid(f, await sign({ ...base(f), ...claims }, typ), reason)
  })

  test('6.5 is invalid without a signature', async () => {
    const f = await fixture({ keys: [jwk] })
    await expectInvalid(f, new UnsecuredJWT(base(f)).encode(), 'token_unknown')
    const [header, payload] = (await sign(base(f))).split('.')
    await expectInvalid(f, `${header}.${payload}.`, 'token_unknown')
  })

  test('6.7 returns every claim with its type', async () => {
    const f = await fixture({ keys: [jwk] })
    const odd = { n: 1.5, yes: true, no: false, nothing: null, list: ['a', 1], one: ['a'], object: { deep: [{}] } }
    const claims = { ...base(f), ...odd, aud: ['https://api1.example.com', 'https://api9.example.com'] }
    expect((await validate(f, await sign(claims))).body).toEqual(claims)
  })

  test('accepts a token of 51200 characters and rejects a longer one', async () => {
    const f = await fixture({ keys: [jwk] })
    const length = async (padding: number) => (await sign({ ...base(f), pad: 'x'.repeat(padding) })).length
    const shortest = await length(0)
    const padding = Math.floor(((51_200 - shortest) * 3) / 4)
    const longest = await sign({ ...base(f), pad: 'x'.repeat(padding) })
    expect(longest).toHaveLength(51_200)
    expect((await validate(f, longest)).status).toBe(200)
    const tooLong = await sign({ ...base(f), pad: 'x'.repeat(padding + 1) })
    expect(tooLong.length).toBeGreaterThan(51_200)
    await expectInvalid(f, tooLong, 'token_unknown')
  })
})
