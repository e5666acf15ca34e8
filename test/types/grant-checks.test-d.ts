import {
  type Demands,
  defineGrant,
  defineGrantCheck,
  type GrantCheck,
  type PluginPart,
  type Plugins,
} from '@grantry/core'
import * as v from 'valibot'
import { describe, expectTypeOf, test } from 'vitest'

// As the TSDoc of Demands describes it for plugin authors. It applies to the whole program, including other tests.
declare module '@grantry/core' {
  interface Demands {
    types_test_pin: { readonly digest: string }
  }
}

const params = v.object({ pin: v.optional(v.string()) })

describe('a grant check', () => {
  test('has its demand typed, absent when nothing was demanded', () => {
    defineGrantCheck({
      settles: 'proof_key',
      grantTypes: ['authorization_code'],
      params,
      check({ demand, params }) {
        expectTypeOf(demand).toEqualTypeOf<
          { readonly challenge: string; readonly method: 'S256' | 'plain' } | undefined
        >()
        expectTypeOf(params).toEqualTypeOf<{ pin?: string | undefined }>()
      },
    })
  })

  test('must handle the absence of a demand', () => {
    defineGrantCheck({
      settles: 'proof_key',
      grantTypes: ['authorization_code'],
      params,
      check({ demand }, kit) {
        // @ts-expect-error a proof without a demand must be handled (RFC 9700 section 4.8.2)
        kit.equals('x', demand.challenge)
      },
    })
  })

  test('settles a declared demand', () => {
    // @ts-expect-error a mistyped name would leave the demand unsettled
    defineGrantCheck({ settles: 'proofkey', grantTypes: ['a'], params, check() {} })
  })

  test('cannot return true or false: not throwing settles the demand', () => {
    // @ts-expect-error `return false` looks like a refusal but would settle the demand
    defineGrantCheck({ settles: 'proof_key', grantTypes: ['a'], params, check: () => false })
    // @ts-expect-error the same, asynchronously
    defineGrantCheck({ settles: 'proof_key', grantTypes: ['a'], params, check: async () => false })
  })

  test('without check() does not compile', () => {
    // @ts-expect-error nothing would settle the demand
    defineGrantCheck({ settles: 'proof_key', grantTypes: ['a'], params })
  })

  test('names its grant types as a list', () => {
    // @ts-expect-error 'a' includes 'a', and so would 'authorization_code'
    defineGrantCheck({ settles: 'proof_key', grantTypes: 'authorization_code', params, check() {} })
  })

  test('keeps its demand and its schema in its type', () => {
    const check = defineGrantCheck({ settles: 'proof_key', grantTypes: ['a'], params, check() {} })
    expectTypeOf(check).toExtend<GrantCheck<'proof_key'>>()
    expectTypeOf(check.settles).toEqualTypeOf<'proof_key' | undefined>()
    expectTypeOf(check).toExtend<PluginPart>()
  })
})

describe('a demand that a plugin adds by declaration merging', () => {
  test('is one of the demands, beside those of the core', () => {
    expectTypeOf<'proof_key' | 'types_test_pin'>().toExtend<keyof Demands>()
    expectTypeOf<Demands['types_test_pin']>().toEqualTypeOf<{ readonly digest: string }>()
  })

  test('types the check that settles it', () => {
    const check = defineGrantCheck({
      settles: 'types_test_pin',
      grantTypes: ['urn:example:badge'],
      params,
      check({ demand }) {
        expectTypeOf(demand).toEqualTypeOf<{ readonly digest: string } | undefined>()
      },
    })
    expectTypeOf(check).toEqualTypeOf<GrantCheck<'types_test_pin', typeof params>>()
    expectTypeOf(check).toExtend<PluginPart>()
    // @ts-expect-error it has no name
    expectTypeOf(check).toExtend<Plugins>()
  })

  test('types the grant that makes it', () => {
    const parts = { grantType: 'urn:example:badge', params } as const
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, demands: { types_test_pin: { digest: 'x' } } }) })
    // @ts-expect-error a digest is a string
    defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes, demands: { types_test_pin: { digest: 1 } } }) })
  })
})
