import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { createIssuerKey } from '../support/trusted-issuer.ts'
import { example, key, now, outcomeOf, secret, setUp } from './bearer-parties.ts'

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

test('an assertion signed with a shared secret is refused, whatever the secret', async () => {
  const secrets = [JSON.stringify(key.jwk), secret, 'x'.repeat(64)]
  const f = await setUp()
  for (const sharedSecret of secrets) {
    const assertion = await new SignJWT(example)
      .setProtectedHeader({ alg: 'HS256', kid: '16' })
      .sign(new TextEncoder().encode(sharedSecret.padEnd(32, 'x')))
    expect(await outcomeOf(f, assertion)).toBe('algorithm_not_allowed')
  }
})
