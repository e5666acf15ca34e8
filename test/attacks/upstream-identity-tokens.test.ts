// The attacker can change what a provider returns, or has tokens of another client or provider: a token counts only with
// the signature of the provider that the user was sent to, and for this client.
import { createSecretKey } from 'node:crypto'
import { base64url, SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { nameOf } from '../sign-in/parties.ts'
import { createIssuerKey } from '../support/trusted-issuer.ts'
import type { DoubleOptions } from '../upstream/openid-double.ts'
import { setUpUpstream } from '../upstream/parties.ts'

const encode = (value: unknown): string => base64url.encode(JSON.stringify(value))
const foreignKey = await createIssuerKey('key-1', 'RS256')

const cases: Readonly<Record<string, DoubleOptions>> = {
  'of another client': { claims: { aud: 'another-client' } },
  'of several clients, without azp': { claims: { aud: ['grantry', 'another-client'] } },
  'that was issued to another client': { claims: { azp: 'another-client' } },
  'of another provider': { claims: { iss: 'https://evil.example.com' } },
  'that has ended': { claims: { exp: 1_700_000_000 } },
  'without an end': { claims: { exp: undefined } },
  'without a nonce': { claims: { nonce: undefined } },
  'without a subject': { claims: { sub: undefined } },
  'with a long subject': { claims: { sub: 's'.repeat(256) } },
  'without a signature': { signToken: async (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.` },
  'with alg none that the metadata allows': {
    metadata: { id_token_signing_alg_values_supported: ['none', 'RS256'] },
    signToken: async (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.AAAA`,
  },
  'signed with the client secret': {
    metadata: { id_token_signing_alg_values_supported: ['HS256', 'RS256'] },
    signToken: (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(createSecretKey(Buffer.from('acme-secret'))),
  },
  'signed with a public key as the secret': {
    metadata: { id_token_signing_alg_values_supported: ['HS256', 'RS256'] },
    signToken: (claims, { jwk }) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: 'key-1' })
        .sign(createSecretKey(Buffer.from(JSON.stringify(jwk)))),
  },
  'signed with a key in its header': {
    signToken: (claims) => foreignKey.sign(claims, { alg: 'RS256', jwk: foreignKey.jwk }),
  },
  'with a changed claim': {
    signToken: async (claims, key) => {
      const [head, , signature] = (await key.sign(claims, { alg: 'RS256' })).split('.')
      return `${head}.${encode({ ...claims, sub: 'victim' })}.${signature}`
    },
  },
}

describe('an identity token', () => {
  test.each(Object.entries(cases))('18.7 %s signs no user in', async (_name, double) => {
    const f = await setUpUpstream({ double })
    const page = await f.comeBack(await f.leave())
    expect(nameOf(page)).toBe('signIn')
    expect(page.html).toContain('provider_failed')
    expect(f.failures()).toHaveLength(1)
    expect(f.events.filter(({ type }) => type === 'session_started')).toEqual([])
  })

  test('18.7 with a key that was published since counts, and unknown keys cause few requests', async () => {
    const f = await setUpUpstream()
    expect(nameOf(await f.comeBack(await f.leave()))).toBe('consent')
    await f.double.rotate('key-2')
    f.skip(60)
    expect(nameOf(await f.comeBack(await f.leave()))).toBe('consent')
    const before = f.double.countOf('/keys')
    f.double.set({ signToken: (claims) => foreignKey.sign(claims, { alg: 'RS256', kid: 'unknown' }) })
    for (let round = 0; round < 5; round += 1) await f.comeBack(await f.leave())
    expect(f.double.countOf('/keys')).toBe(before)
    expect(f.failures()).toEqual(Array.from({ length: 5 }, () => 'token_key_unknown'))
  })

  // A key of another kind in the same set, such as a weaker one that the provider still publishes for others.
  test.each<[string, string, ('RS256' | 'ES256')[], string, string[]]>([
    ['an identity token', 'the pinned one', ['RS256'], 'consent', []],
    ['an identity token', 'another one', ['ES256'], 'signIn', ['token_algorithm_not_allowed']],
  ])(
    '18.7 %s with %s is judged by the algorithms of the configuration',
    async (_what, _which, algorithms, shown, failures) => {
      const f = await setUpUpstream({ provider: { algorithms } })
      expect(nameOf(await f.comeBack(await f.leave()))).toBe(shown)
      expect(f.failures()).toEqual(failures)
    },
  )

  test.each(['none', 'HS256'])('18.7 the algorithms cannot contain %s', async (algorithm) => {
    await expect(setUpUpstream({ provider: { algorithms: [algorithm as 'ES256'] } })).rejects.toThrow(
      /algorithms\[0\] must be one of/u,
    )
  })

  test('18.7 is not completed by a userinfo response of another user', async () => {
    const f = await setUpUpstream({ double: { userinfo: { sub: 'victim', email: 'victim@example.com' } } })
    expect((await f.comeBack(await f.leave())).html).toContain('provider_failed')
  })

  // Some providers let users edit what userinfo returns.
  test('18.9 alone states how the user has signed in: userinfo does not', async () => {
    const userinfo = { sub: 'upstream-alice', amr: ['hwk'], acr: 'gold', auth_time: 4_000_000_000 }
    const f = await setUpUpstream({ double: { userinfo }, provider: { acr: { gold: 'urn:mfa' } } })
    const { claims } = await f.claimsAfter()
    expect(claims).toMatchObject({ amr: ['external'] })
    expect(claims).not.toHaveProperty('acr')
    expect((await f.comeBack(await f.leave({ prompt: 'login' }))).html).toContain('provider_not_recent')
  })

  test.each(['constructor', '__proto__', 'toString'])(
    '18.9 states no acr by the name of an inherited member: %s',
    async (acr) => {
      const f = await setUpUpstream({ double: { claims: { acr } }, provider: { acr: { gold: 'urn:mfa' } } })
      expect((await f.claimsAfter()).claims).not.toHaveProperty('acr')
    },
  )

  test('does not verify an address that it does not have', async () => {
    const seen: unknown[] = []
    const f = await setUpUpstream({
      double: {
        claims: { email_verified: true },
        userinfo: { sub: 'upstream-alice', email: 'victim@acme.example', email_verified: false },
      },
      options: {
        subject: ({ sub, email_verified: isVerified }) => {
          seen.push(isVerified)
          return sub
        },
      },
    })
    await f.claimsAfter()
    expect(seen).toEqual([false])
  })
})
