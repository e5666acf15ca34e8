import { defineGrant, type GrantResult, type Json } from '@grantry/core'
import * as v from 'valibot'
import { describe, expectTypeOf, test } from 'vitest'

const parts = { grantType: 'urn:example:badge', params: v.object({}) } as const

describe('an invalid result of a grant does not compile', () => {
  test('a response', () => {
    // @ts-expect-error a plugin returns data: the core sets status and headers
    defineGrant({ ...parts, handle: () => new Response() })
  })

  test('a token instead of a result', () => {
    // @ts-expect-error only the core issues tokens
    defineGrant({ ...parts, handle: () => 'eyJhbGciOiJub25lIn0..' })
  })

  test('nothing', () => {
    // @ts-expect-error the granted scopes are required
    defineGrant({ ...parts, handle: () => undefined })
  })

  test('no scopes', () => {
    // @ts-expect-error a forgotten list must not mean every requested scope
    defineGrant({ ...parts, handle: () => ({ subject: { sub: '1', amr: ['badge'] } }) })
  })

  test('scopes as a string', () => {
    // @ts-expect-error 'api1 api2' would be one scope of that name
    defineGrant({ ...parts, handle: () => ({ scopes: 'api1 api2' }) })
  })

  test('a subject without amr', () => {
    // @ts-expect-error tokens contain how the user was authenticated
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, subject: { sub: '1' } }) })
  })

  test('a token beside the scopes', () => {
    // @ts-expect-error its own token would bypass every check of the core; untyped, it is a 500 at the first request
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, access_token: 'mine' }) })
  })

  test('a token beside the scopes, asynchronously', () => {
    // @ts-expect-error as above
    defineGrant({ ...parts, handle: async ({ scopes }) => ({ scopes, access_token: 'mine' }) })
  })

  test('a mistyped member beside the scopes', () => {
    // @ts-expect-error `redeem` instead of `redeems` would leave a credential unspent; untyped, it is a 500 at the first request
    defineGrant({ ...parts, handle: ({ scopes }, kit) => ({ scopes, redeem: [kit.redemption('jti', 1)] }) })
  })

  test('claims that JSON cannot hold', () => {
    // @ts-expect-error a Date would become a string silently
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, claims: { since: new Date(0) } }) })
    // @ts-expect-error a bigint cannot be serialized
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, claims: { count: 1n } }) })
    // @ts-expect-error a Map would become {}
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, claims: { roles: new Map<string, string>() } }) })
    // @ts-expect-error undefined would vanish
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, claims: { roles: undefined } }) })
    // @ts-expect-error claims have names
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, claims: ['admin'] }) })
  })

  test('response members that JSON cannot hold', () => {
    // @ts-expect-error a function cannot be serialized
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, response: { now: () => 1 } }) })
  })

  test('an undeclared demand', () => {
    // @ts-expect-error no check could ever settle it, so every request would be refused
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, demands: { mistyped: { digest: 'x' } } }) })
  })

  test('a demand with a wrong value', () => {
    const method = 'S256' as const
    // @ts-expect-error a challenge is a string
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, demands: { proof_key: { challenge: 1, method } } }) })
    const proof_key = { challenge: 'x', method: 'MD5' } as const
    // @ts-expect-error there are two methods
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, demands: { proof_key } }) })
  })

  test('a forged redemption', () => {
    // @ts-expect-error only the kit knows what a credential is
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, redeems: [{ kind: 'code', hash: 'x' }] }) })
  })

  test('a request for a refresh token', () => {
    // @ts-expect-error offline_access decides about it; a grant can only forbid it
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, issue: { refreshToken: true } }) })
  })

  test('an unknown format of the access token', () => {
    // @ts-expect-error there are two
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, issue: { accessToken: 'opaque' } }) })
  })
})

describe('a valid result of a grant compiles', () => {
  test('with every member of a result', () => {
    defineGrant({
      ...parts,
      async handle({ scopes }, kit) {
        return {
          subject: { sub: '1', amr: ['badge'], authTime: kit.now(), idp: 'doors', acr: 'high' },
          scopes,
          claims: { doors: ['north', { floor: 2, open: true, note: null }] },
          nonce: 'n',
          identityClaims: { sid: 's' },
          requestedClaims: { userinfo: ['name'], identityToken: ['email'] },
          redeems: [kit.redemption('jti', kit.now() + 60)],
          demands: { proof_key: { challenge: 'x', method: 'S256' } },
          issue: { accessToken: 'reference', refreshToken: false, identityToken: true, lifetime: 60 },
          response: { door: 'north' },
        }
      },
    })
  })

  test('claims and response members are JSON, all of it and nothing else', () => {
    expectTypeOf<NonNullable<GrantResult['claims']>[string]>().toEqualTypeOf<Json>()
    expectTypeOf<NonNullable<GrantResult['response']>[string]>().toEqualTypeOf<Json>()
  })

  test('a result has exactly these members: no token among them', () => {
    expectTypeOf<keyof GrantResult>().toEqualTypeOf<
      | 'subject'
      | 'scopes'
      | 'audience'
      | 'actor'
      | 'assertion'
      | 'continuesFamilyOf'
      | 'claims'
      | 'nonce'
      | 'identityClaims'
      | 'requestedClaims'
      | 'redeems'
      | 'continues'
      | 'demands'
      | 'issue'
      | 'response'
    >()
  })
})
