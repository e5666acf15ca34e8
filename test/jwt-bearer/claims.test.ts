import { describe, expect, test } from 'vitest'
import { example, expires, idp, issuer, key, notBefore, now, outcomeOf, setUp } from './bearer-parties.ts'

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
    ['4, valid forever', { exp: Number.MAX_VALUE }, 'malformed'],
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
    const otherIssuer = 'https://other.example.com'
    const f = await setUp(
      {},
      {
        issuers: [idp, otherIssuer].map((name) => ({ issuer: name, jwks: { keys: [key.jwk] } })),
      },
    )
    expect(await outcomeOf(f, await key.sign(named))).toBe('accepted')
    expect(await outcomeOf(f, await key.sign({ ...named, iss: otherIssuer }))).toBe('accepted')
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
