import type { ProviderOptions } from '@grantry/core'
import { createTestProvider, sha256Of, testClient } from '@grantry/core/testing'
import { type JwtBearerOptions, jwtBearer } from '@grantry/plugins/jwt-bearer'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { createIssuerKey } from '../support/trusted-issuer.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
// The parties and the claims of the example in RFC 7523 section 4.
const issuer = 'https://jwt-rp.example.net'
const idp = 'https://jwt-idp.example.com'
const [notBefore, expires] = [1_300_815_780, 1_300_819_380]
const example = {
  iss: idp,
  sub: 'mailto:mike@example.com',
  aud: issuer,
  nbf: notBefore,
  exp: expires,
  'http://claims.example.com/member': true,
}
const now = notBefore + 60

const key = await createIssuerKey('16')
const [clientId, secret] = testClient

type Issuer = JwtBearerOptions['issuers'][number]

async function setUp(
  from: Partial<Issuer> = {},
  settings: Partial<JwtBearerOptions> = {},
  more: Partial<ProviderOptions> = {},
) {
  let time = now
  const subject: JwtBearerOptions['subject'] = ({ iss, sub }) => ({
    sub: `${iss} ${sub}`,
    amr: ['assertion'],
    idp: iss,
  })
  const f = await createTestProvider({
    issuer,
    plugins: [jwtBearer({ issuers: [{ issuer: idp, jwks: { keys: [key.jwk] }, ...from }], subject, ...settings })],
    clients: [
      {
        clientId,
        secrets: [{ sha256: sha256Of(secret) }],
        grantTypes: [grantType],
        scopes: ['openid', 'api1', 'offline_access'],
      },
    ],
    runtime: { now: () => time },
    ...more,
  })
  return {
    ...f,
    at: (seconds: number) => {
      time = seconds
    },
    redeem: (assertion: string, scope = 'api1') =>
      f.post('token', { grant_type: grantType, assertion, scope }, testClient),
  }
}

type SetUp = Awaited<ReturnType<typeof setUp>>

const prefix = 'plugin:jwt-bearer:'

/** The status, and the reason without its prefix. Every refusal has the same public text. */
async function outcomeOf(f: SetUp, assertion: string) {
  const { status, body, failure } = await f.redeem(assertion)
  if (status === 200) return 'accepted'
  expect([status, body]).toEqual([400, { error: 'invalid_grant', error_description: 'The assertion is not valid' }])
  return String(failure).startsWith(prefix) ? String(failure).slice(prefix.length) : failure
}

const claimsOf = ({ access_token }: { readonly access_token: string }) =>
  JSON.parse(Buffer.from(access_token.split('.')[1] ?? '', 'base64url').toString())

describe('RFC 7523 section 4: the example', () => {
  test('gets a token for the user that the mapping returns', async () => {
    const f = await setUp()
    const { status, body } = await f.redeem(await key.sign(example))
    expect(status).toBe(200)
    expect(body).toEqual({
      access_token: expect.any(String),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'api1',
    })
    expect(claimsOf(body)).toMatchObject({ sub: `${idp} mailto:mike@example.com`, idp, amr: ['assertion'] })
  })

  test('the mapping gets the verified claims and the client', async () => {
    const calls: unknown[] = []
    const f = await setUp({}, { subject: (claims, client) => void calls.push([claims, client.clientId]) })
    expect(await outcomeOf(f, await key.sign(example))).toBe('subject_unknown')
    expect(calls).toEqual([[example, clientId]])
  })

  test('is refused without a mapping', async () => {
    const f = await setUp({}, { subject: undefined })
    expect(await outcomeOf(f, await key.sign(example))).toBe('subject_unknown')
  })
})

describe('RFC 7523 section 3: the claims of an assertion', () => {
  const later = notBefore + 3600
  test.each<[string, Record<string, unknown>, string]>([
    ['1, without iss', { iss: undefined }, 'issuer_unknown'],
    ['1, of an issuer that is not configured', { iss: 'https://evil.example.com' }, 'issuer_unknown'],
    ['1, of an issuer in another spelling', { iss: `${idp}/` }, 'issuer_unknown'],
    ['1, of a list of issuers', { iss: [idp] }, 'issuer_unknown'],
    ['1, of this provider itself', { iss: issuer }, 'issuer_unknown'],
    ['2, without sub', { sub: undefined }, 'sub_invalid'],
    ['2, with an empty sub', { sub: '' }, 'sub_invalid'],
    ['2, with a sub that is no string', { sub: 5 }, 'sub_invalid'],
    ['2, with a sub of 256 characters', { sub: 'x'.repeat(256) }, 'sub_invalid'],
    ['3, without aud', { aud: undefined }, 'aud_invalid'],
    ['3, for another server', { aud: 'https://other.example.com' }, 'aud_invalid'],
    ['3, for this provider and another server', { aud: [issuer, 'https://other.example.com'] }, 'aud_invalid'],
    ['3, for no server', { aud: [] }, 'aud_invalid'],
    ['3, with an aud that is no string', { aud: { [issuer]: true } }, 'aud_invalid'],
    ['4, without exp', { exp: undefined }, 'exp_invalid'],
    ['4, with an exp that is no number', { exp: String(expires) }, 'exp_invalid'],
    ['4, expired', { nbf: undefined, exp: now - 11 }, 'expired'],
    ['4, valid for too long', { exp: now + 3611 }, 'exp_too_late'],
    ['4, valid forever', { exp: Number.MAX_VALUE }, 'exp_too_late'],
    ['5, not valid yet', { nbf: now + 11 }, 'nbf_invalid'],
    ['5, with an nbf that is no number', { nbf: 'now' }, 'nbf_invalid'],
    ['6, issued in the future', { iat: now + 11 }, 'iat_invalid'],
    ['6, issued long ago', { iat: now - 3611 }, 'iat_too_early'],
    ['6, with an iat that is no number', { iat: 'now' }, 'iat_invalid'],
    ['7, with a jti that is no string', { jti: 5 }, 'jti_invalid'],
    ['7, with an empty jti', { jti: '' }, 'jti_invalid'],
    ['7, with a jti of 257 characters', { jti: 'x'.repeat(257) }, 'jti_invalid'],
  ])('rule %s: refused', async (_, claims, reason) => {
    expect(await outcomeOf(await setUp(), await key.sign({ ...example, ...claims }))).toBe(reason)
  })

  test.each<[string, Record<string, unknown>]>([
    ['3, for the token endpoint', { aud: `${issuer}/connect/token` }],
    ['3, for a list with the issuer only', { aud: [issuer] }],
    ['4, expired within the clock tolerance', { nbf: undefined, exp: now - 9 }],
    ['4, valid for the longest time', { exp: now + 3600 }],
    ['5, without nbf', { nbf: undefined }],
    ['5, valid soon, within the clock tolerance', { nbf: now + 10 }],
    ['6, issued now', { iat: now }],
    ['6, issued soon, within the clock tolerance', { iat: now + 10 }],
    ['7, with a jti', { jti: 'x'.repeat(256) }],
    ['with unknown claims', { extra: { a: [1] } }],
  ])('rule %s: accepted', async (_, claims) => {
    expect(await outcomeOf(await setUp(), await key.sign({ ...example, ...claims }))).toBe('accepted')
  })

  test('rule 3: audience replaces the accepted values', async () => {
    const f = await setUp({ audience: ['urn:example:provider'] })
    expect(await outcomeOf(f, await key.sign(example))).toBe('aud_invalid')
    expect(await outcomeOf(f, await key.sign({ ...example, aud: 'urn:example:provider' }))).toBe('accepted')
  })

  test('rule 4: maxLifetime and clockTolerance bound the time', async () => {
    const f = await setUp({ maxLifetime: 60 }, { clockTolerance: 0 })
    expect(await outcomeOf(f, await key.sign({ ...example, exp: now + 61 }))).toBe('exp_too_late')
    expect(await outcomeOf(f, await key.sign({ ...example, exp: now + 60 }))).toBe('accepted')
    f.at(later)
    expect(await outcomeOf(f, await key.sign({ ...example, exp: later }))).toBe('expired')
  })
})

describe('RFC 7523 section 3, rule 7: an assertion with a jti', () => {
  const named = { ...example, jti: 'once' }

  test('is accepted once', async () => {
    const f = await setUp()
    expect(await outcomeOf(f, await key.sign(named))).toBe('accepted')
    expect(await outcomeOf(f, await key.sign({ ...named, exp: expires - 1 }))).toBe('redemption_replayed')
  })

  test('is accepted once of many concurrent requests', async () => {
    const f = await setUp()
    const assertion = await key.sign(named)
    const responses = await Promise.all(Array.from({ length: 20 }, () => f.redeem(assertion)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('is accepted although a refused one had the same', async () => {
    const f = await setUp()
    expect(await outcomeOf(f, await key.sign({ ...named, aud: 'https://other.example.com' }))).toBe('aud_invalid')
    expect((await f.redeem(await key.sign(named), 'unknown')).body.error).toBe('invalid_scope')
    expect(await outcomeOf(f, await key.sign(named))).toBe('accepted')
  })

  test('is refused as long as the clock tolerance accepts it', async () => {
    const f = await setUp()
    const assertion = await key.sign(named)
    expect(await outcomeOf(f, assertion)).toBe('accepted')
    f.at(expires + 9)
    expect(await outcomeOf(f, assertion)).toBe('redemption_replayed')
    f.at(expires + 11)
    expect(await outcomeOf(f, assertion)).toBe('expired')
  })

  test('does not collide with that of another issuer', async () => {
    const other = 'https://other.example.com'
    const f = await setUp(
      {},
      {
        issuers: [idp, other].map((name) => ({ issuer: name, jwks: { keys: [key.jwk] } })),
      },
    )
    expect(await outcomeOf(f, await key.sign(named))).toBe('accepted')
    expect(await outcomeOf(f, await key.sign({ ...named, iss: other }))).toBe('accepted')
  })

  test('can be required', async () => {
    const f = await setUp({ requireJti: true })
    expect(await outcomeOf(f, await key.sign(example))).toBe('jti_missing')
    expect(await outcomeOf(f, await key.sign(named))).toBe('accepted')
  })

  test('without one can be used again, until it expires (RFC 7521 section 4.1)', async () => {
    const f = await setUp()
    const assertion = await key.sign(example)
    expect(await outcomeOf(f, assertion)).toBe('accepted')
    expect(await outcomeOf(f, assertion)).toBe('accepted')
  })
})

describe('RFC 7523 section 3, rules 8 to 10: the form and the signature', () => {
  const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = (header: object) => `${base64url(header)}.${base64url(example)}.AAAA`
  const tooLong = (length: number) => key.sign({ ...example, pad: 'x'.repeat(length) })

  test.each<[string, () => Promise<string> | string, string]>([
    ['text', () => 'assertion', 'malformed'],
    ['two parts', () => 'e30.e30', 'malformed'],
    ['an encrypted JWT', () => 'e30.e30.e30.e30.e30', 'malformed'],
    ['three parts that are not JSON', () => 'AAAA.AAAA.AAAA', 'malformed'],
    ['a JWT without a signature', async () => `${(await key.sign(example)).replace(/[^.]+$/u, '')}`, 'malformed'],
    ['more than 8,192 characters', () => tooLong(8000), 'too_long'],
    ['an access token of another server', () => key.sign(example, { typ: 'at+jwt' }), 'typ_unsupported'],
    ['a proof of possession', () => key.sign(example, { typ: 'dpop+jwt' }), 'typ_unsupported'],
    ['a client assertion', () => key.sign(example, { typ: 'client-authentication+jwt' }), 'typ_unsupported'],
    [
      'a critical header that is not known',
      () => unsigned({ alg: 'ES256', kid: '16', crit: ['x'], x: 1 }),
      'malformed',
    ],
    ['no algorithm', () => unsigned({ alg: 'none' }), 'algorithm_not_allowed'],
    ['the key of another issuer', async () => (await createIssuerKey('16')).sign(example), 'signature_mismatch'],
    ['an unknown key', async () => (await createIssuerKey('17')).sign(example), 'key_unknown'],
    [
      'an algorithm that does not fit the key',
      async () => (await createIssuerKey('16', 'EdDSA')).sign(example),
      'key_unknown',
    ],
  ])('refuses %s', async (_, assertion, reason) => {
    expect(await outcomeOf(await setUp(), await assertion())).toBe(reason)
  })

  test.each(['JWT', 'jwt', 'application/jwt'])('accepts the type %s', async (typ) => {
    expect(await outcomeOf(await setUp(), await key.sign(example, { typ }))).toBe('accepted')
  })

  test('accepts keys without ids, several of the same type', async () => {
    const keys = await Promise.all([createIssuerKey(), createIssuerKey()])
    const f = await setUp({ jwks: { keys: keys.map(({ jwk }) => jwk) } })
    for (const { sign } of keys) expect(await outcomeOf(f, await sign(example))).toBe('accepted')
  })

  test('accepts only the configured algorithms', async () => {
    const f = await setUp({ algorithms: ['PS256'] })
    expect(await outcomeOf(f, await key.sign(example))).toBe('algorithm_not_allowed')
  })

  test.each(['none', 'HS256'])('algorithms cannot contain %s', async (alg) => {
    await expect(setUp({ algorithms: [alg as 'ES256'] })).rejects.toThrow(
      /issuers\[0\]\.algorithms\[0\] must be one of/u,
    )
  })
})

describe('keys at jwksUri', () => {
  const jwksUri = 'https://jwt-idp.example.com/keys'

  async function remote(keys: unknown[]) {
    const requests: string[] = []
    const fetch = async (url: string) => {
      requests.push(url)
      return keys.length === 0 ? new Response('', { status: 503 }) : Response.json({ keys })
    }
    return { requests, f: await setUp({ jwks: undefined, jwksUri }, { jwksUri: { fetch } }) }
  }

  test('are fetched once, and again for an unknown key after the cooldown', async () => {
    const added = await createIssuerKey('17')
    const keys = [key.jwk]
    const { f, requests } = await remote(keys)
    expect(await outcomeOf(f, await key.sign(example))).toBe('accepted')
    expect(await outcomeOf(f, await key.sign(example))).toBe('accepted')
    expect(requests).toEqual([jwksUri])
    keys.push(added.jwk)
    expect(await outcomeOf(f, await added.sign(example))).toBe('key_unknown')
    f.at(now + 30)
    expect(await outcomeOf(f, await added.sign(example))).toBe('accepted')
    expect(await outcomeOf(f, await (await createIssuerKey('18')).sign(example))).toBe('key_unknown')
    expect(requests).toHaveLength(2)
  })

  test('that are unavailable cause a refusal', async () => {
    const { f } = await remote([])
    expect(await outcomeOf(f, await key.sign(example))).toBe('keys_unavailable')
  })

  test('are not fetched for an issuer that is not configured', async () => {
    const { f, requests } = await remote([key.jwk])
    expect(await outcomeOf(f, await key.sign({ ...example, iss: 'https://evil.example.com' }))).toBe('issuer_unknown')
    expect(requests).toEqual([])
  })
})

describe('RFC 7521 section 4.1: the response', () => {
  test('has no refresh token, even with offline_access', async () => {
    const { body } = await (await setUp()).redeem(await key.sign(example), 'api1 offline_access')
    expect(body).not.toHaveProperty('refresh_token')
  })

  test('has a refresh token if the plugin allows it', async () => {
    const f = await setUp({}, { refreshToken: true })
    const { body } = await f.redeem(await key.sign(example), 'api1 offline_access')
    expect(body.refresh_token).toEqual(expect.any(String))
    expect((await f.redeem(await key.sign(example))).body).not.toHaveProperty('refresh_token')
  })

  test('is a refusal for an inactive user, with the same text', async () => {
    const f = await setUp({}, {}, { users: { isActive: () => false } })
    expect(await outcomeOf(f, await key.sign(example))).toBe('user_inactive')
  })

  test('needs a scope (RFC 6749 section 3.3)', async () => {
    const { body } = await (await setUp()).redeem(await key.sign(example), '')
    expect(body.error).toBe('invalid_scope')
  })

  test('needs the parameter assertion', async () => {
    const f = await setUp()
    const { status, body } = await f.post('token', { grant_type: grantType, scope: 'api1' }, testClient)
    expect([status, body.error_description]).toEqual([400, 'The parameter assertion is required'])
  })

  test('shows nothing of an error in the mapping', async () => {
    const subject = () => {
      throw new TypeError('the directory is down')
    }
    const { status, body } = await (await setUp({}, { subject })).redeem(await key.sign(example))
    expect([status, body]).toEqual([500, { error: 'server_error' }])
  })
})

describe('a mistake in the options', () => {
  test.each<[string, object, RegExp]>([
    ['no issuers', { issuers: undefined }, /jwtBearer\(\): issuers must be an array/u],
    ['an issuer without keys', { issuers: [{ issuer: idp }] }, /issuers\[0\] must have either jwks or jwksUri/u],
    [
      'two sources of keys',
      { issuers: [{ issuer: idp, jwks: { keys: [key.jwk] }, jwksUri: `${idp}/keys` }] },
      /issuers\[0\] must have either jwks or jwksUri/u,
    ],
    [
      'two issuers with one name',
      { issuers: [1, 2].map(() => ({ issuer: idp, jwks: { keys: [key.jwk] } })) },
      /issuers\[1\]\.issuer is the same as an earlier one/u,
    ],
    [
      'a private key',
      { issuers: [{ issuer: idp, jwks: { keys: [{ ...key.jwk, d: 'x' }] } }] },
      /must be a public key/u,
    ],
    ['a secret', { issuers: [{ issuer: idp, jwks: { keys: [{ kty: 'oct', k: 'x' }] } }] }, /must be RSA, EC or OKP/u],
    ['keys without TLS', { issuers: [{ issuer: idp, jwksUri: 'http://idp.example.com/' }] }, /jwksUri must use https/u],
    ['keys at an address', { issuers: [{ issuer: idp, jwksUri: 'https://127.0.0.1/' }] }, /public host, not an IP/u],
    ['an unknown option', { issuers: [], subjects: () => undefined }, /did you mean subject/u],
  ])('is reported at startup: %s', (_, options, message) => {
    expect(() => jwtBearer(options as JwtBearerOptions)).toThrow(message)
  })
})

test('an assertion signed with a shared secret is refused, whatever the secret', async () => {
  const secrets = [JSON.stringify(key.jwk), secret, 'x'.repeat(64)]
  const f = await setUp()
  for (const one of secrets) {
    const assertion = await new SignJWT(example)
      .setProtectedHeader({ alg: 'HS256', kid: '16' })
      .sign(new TextEncoder().encode(one.padEnd(32, 'x')))
    expect(await outcomeOf(f, assertion)).toBe('algorithm_not_allowed')
  }
})
