import { type ExternalKey, type KeySource, type Provider, type SigningAlgorithm, storedKeys } from '@grantry/core'
import { describe, expectTypeOf, test } from 'vitest'

describe('keys of a provider', () => {
  test('are kept in the store by storedKeys(), which accepts known algorithms only', () => {
    expectTypeOf(storedKeys({ algorithms: ['ES256', 'RS256'] })).toExtend<KeySource>()
    // @ts-expect-error a symmetric algorithm
    storedKeys({ algorithms: ['HS256'] })
    // @ts-expect-error a mistyped option
    storedKeys({ rotateafter: 1 })
  })

  test('may be external, with JWKs beside them', () => {
    const key = { publicKey: { kty: 'EC' }, sign: async (data: Uint8Array) => data } satisfies ExternalKey
    expectTypeOf([key, { kty: 'RSA' }]).toExtend<KeySource>()
  })

  test('are listed without key material', () => {
    type Info = Awaited<ReturnType<Provider['keys']['list']>>[number]
    expectTypeOf<Info>().toHaveProperty('algorithm').toEqualTypeOf<SigningAlgorithm>()
    expectTypeOf<Info>().not.toHaveProperty('jwk')
  })
})
