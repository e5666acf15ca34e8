import { mapDriver, sha256Of, type TestResponse } from '@grantry/testing'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web } from '../support/fixture.ts'

const issuer = 'https://id.example.com'
const keyOf = (kind: string, credential: string): string =>
  `${kind}:${Buffer.from(sha256Of(credential), 'base64').toString('hex')}`

/**
 * Our own credentials have 43 characters. For other lengths, this moves the stored record to the key that the core
 * reads.
 */
function rename(items: Map<string, string>, kind: string, from: string, to: string): void {
  const record = items.get(keyOf(kind, from))
  if (record === undefined) throw new Error(`there is no record of the kind ${kind}`)
  items.set(keyOf(kind, to), record)
}

const x = (length: number): string => 'x'.repeat(length)

async function started() {
  const items = new Map<string, string>()
  const f = await fixture({ storage: mapDriver(items) })
  const codeForm = async () => ({ grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri })
  return { f, items, codeForm }
}

/** The response of each endpoint that takes an access token. */
const send = (f: Fixture, endpoint: 'userinfo' | 'introspection' | 'accessTokenValidation', token: string) =>
  endpoint === 'userinfo'
    ? f.get('userinfo', {}, { authorization: `Bearer ${token}` })
    : f.post(endpoint, { token }, endpoint === 'introspection' ? api1 : undefined)

const isAccepted = ({ status, body }: TestResponse): boolean => status === 200 && body.active !== false

describe('code, refresh token, reference token: 512', () => {
  test('1.36 accepts a code of 512 and rejects one of 513', async () => {
    const { f, items, codeForm } = await started()
    const form = await codeForm()
    for (const length of [512, 513]) rename(items, 'code', form.code, x(length))
    const { status, body } = await f.post('token', { ...form, code: x(513) }, web)
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
    expect((await f.post('token', { ...form, code: x(512) }, web)).status).toBe(200)
  })

  test('1.36 accepts a refresh token of 512 and rejects one of 513', async () => {
    const { f, items, codeForm } = await started()
    const { body: tokens } = await f.post('token', await codeForm(), web)
    for (const length of [512, 513]) rename(items, 'refresh', tokens.refresh_token, x(length))
    const refresh = (token: string) => f.post('token', { grant_type: 'refresh_token', refresh_token: token }, web)
    const { status, body } = await refresh(x(513))
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
    expect((await refresh(x(512))).status).toBe(200)
  })

  test.each(['userinfo', 'introspection', 'accessTokenValidation'] as const)(
    '1.36 accepts a reference token of 512 and rejects one of 513, at %s',
    async (endpoint) => {
      const { f, items, codeForm } = await started()
      const { body: tokens } = await f.post('token', await codeForm(), web)
      for (const length of [512, 513]) rename(items, 'access', tokens.access_token, x(length))
      expect(isAccepted(await send(f, endpoint, x(512)))).toBe(true)
      expect(isAccepted(await send(f, endpoint, x(513)))).toBe(false)
    },
  )
})

/** A provider and a function that signs any claims with its key, in a JWT of exactly the given length. */
async function signing() {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const f = await fixture({ keys: [{ ...(await exportJWK(privateKey)), kid: 'k' }] })
  const sign = (claims: JWTPayload, typ: string, cty: string): Promise<string> =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid: 'k', typ, cty }).sign(privateKey)

  async function jwtOf(length: number, typ: string, more: JWTPayload): Promise<string> {
    const now = f.clock.now()
    const claims = { iss: issuer, sub: '1', iat: now, nbf: now, exp: now + 60, ...more }
    const rest = (await sign({ ...claims, padding: '' }, typ, '')).length
    // Base64url cannot produce some lengths; a longer header makes up the difference.
    for (const cty of ['', 'x', 'xx', 'xxx']) {
      for (let padding = Math.floor(((length - rest) * 3) / 4) - 6; padding < length; padding += 1) {
        const token = await sign({ ...claims, padding: x(padding) }, typ, cty)
        if (token.length === length) return token
        if (token.length > length) break
      }
    }
    throw new Error(`no JWT has ${length} characters`)
  }
  return { f, jwtOf }
}

describe('JWT: 51200', () => {
  const access: JWTPayload = {
    aud: [`${issuer}/resources`, 'https://api1.example.com'],
    client_id: web[0],
    scope: 'openid api1',
  }

  test.each(['userinfo', 'introspection', 'accessTokenValidation'] as const)(
    '1.37 accepts an access token of 51200 and rejects one of 51201, at %s',
    async (endpoint) => {
      const { f, jwtOf } = await signing()
      expect(isAccepted(await send(f, endpoint, await jwtOf(51_200, 'at+jwt', access)))).toBe(true)
      expect(isAccepted(await send(f, endpoint, await jwtOf(51_201, 'at+jwt', access)))).toBe(false)
    },
  )

  test('1.37 accepts an identity token of 51200 and rejects one of 51201', async () => {
    const { f, jwtOf } = await signing()
    const validate = async (length: number) =>
      f.post('identityTokenValidation', { token: await jwtOf(length, 'JWT', { aud: web[0] }), client_id: web[0] })
    expect((await validate(51_200)).status).toBe(200)
    const { status, body } = await validate(51_201)
    expect([status, body.error]).toEqual([400, 'invalid_token'])
  })

  test('1.37 accepts a JWT of 51200 in a query too', async () => {
    const { f, jwtOf } = await signing()
    const { status } = await f.get('accessTokenValidation', { token: await jwtOf(51_200, 'at+jwt', access) })
    expect(status).toBe(200)
  })
})
