import {
  type AuthenticatedClient,
  type Client,
  defineGrant,
  type Grant,
  type GrantKit,
  type GrantRequest,
  type GrantResult,
  type Redemption,
} from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { refreshToken } from '@grantry/plugins/refresh-token'
import * as v from 'valibot'
import { describe, expectTypeOf, test } from 'vitest'

const params = v.object({
  badge_id: v.string(),
  door: v.optional(v.pipe(v.string(), v.transform(Number))),
})

const parts = { grantType: 'urn:example:badge', params } as const

describe('the arguments of a grant', () => {
  test('params are inferred from the output of the schema', () => {
    defineGrant({
      ...parts,
      handle({ params, scopes, client, request }) {
        expectTypeOf(params).toEqualTypeOf<{ badge_id: string; door?: number | undefined }>()
        expectTypeOf(scopes).toEqualTypeOf<readonly string[]>()
        expectTypeOf(client).toEqualTypeOf<AuthenticatedClient>()
        expectTypeOf(request.header).toEqualTypeOf<(name: string) => string | null>()
        return { scopes }
      },
    })
  })

  test('a parameter that is not in the schema cannot be read', () => {
    // @ts-expect-error a mistyped member would be undefined for every request
    defineGrant({ ...parts, handle: ({ params, scopes }) => ({ scopes, nonce: params.badgeId }) })
  })

  test('handle() cannot declare other params than the schema', () => {
    // @ts-expect-error the assumed number is a string on the wire
    defineGrant({ ...parts, handle: ({ scopes }: GrantRequest<{ badge_id: number }>) => ({ scopes }) })
  })

  test('the kit has exactly the documented members, and no way to issue', () => {
    // When you add a member, add it here too, after checking that it cannot issue tokens.
    expectTypeOf<keyof GrantKit>().toEqualTypeOf<
      | 'issuer'
      | 'tokenEndpoints'
      | 'now'
      | 'sha256'
      | 'equals'
      | 'randomId'
      | 'refuse'
      | 'records'
      | 'audienceOf'
      | 'clientMetadata'
      | 'signingAlgorithms'
      | 'problemOfClient'
      | 'callHost'
      | 'recordUser'
      | 'recordClient'
      | 'seal'
      | 'unseal'
      | 'sign'
      | 'limitGuesses'
      | 'findGrant'
      | 'assertClient'
      | 'assertKeys'
      | 'redemption'
      | 'authenticateUser'
      | 'validateToken'
    >()
    expectTypeOf<keyof GrantKit['records']>().toEqualTypeOf<
      'get' | 'put' | 'insert' | 'update' | 'delete' | 'increment'
    >()
  })

  test('an authenticated client cannot be forged', () => {
    expectTypeOf<AuthenticatedClient>().toExtend<Client>()
    // Otherwise a plugin could pass an unauthenticated client to the core.
    expectTypeOf<Client>().not.toExtend<AuthenticatedClient>()
    expectTypeOf<Client & { authenticated: true }>().not.toExtend<AuthenticatedClient>()
  })

  test('a redemption cannot be forged', () => {
    expectTypeOf<object>().not.toExtend<Redemption>()
    expectTypeOf<{ kind: 'code'; hash: string; expiresAt: number }>().not.toExtend<Redemption>()
  })
})

describe('the definition of a grant', () => {
  test('a grant without handle() does not compile', () => {
    // @ts-expect-error nothing would handle its requests
    defineGrant({ ...parts })
  })

  test('params must be a synchronous schema', () => {
    // @ts-expect-error a record of schemas is not a schema: nothing would be validated
    defineGrant({ grantType: 'a', params: { badge_id: v.string() }, handle: ({ scopes }) => ({ scopes }) })
  })

  test('an unknown member does not compile', () => {
    // @ts-expect-error publicClient instead of publicClients would be ignored
    defineGrant({ ...parts, publicClient: true, handle: ({ scopes }) => ({ scopes }) })
  })

  test('the rule for scope is one of three', () => {
    // @ts-expect-error any other value would make the scope optional
    defineGrant({ ...parts, scope: 'none', handle: ({ scopes }) => ({ scopes }) })
  })

  test('requires contains capabilities', () => {
    // @ts-expect-error an unknown requirement would never be checked
    defineGrant({ ...parts, requires: ['users.autenticate'], handle: ({ scopes }) => ({ scopes }) })
  })

  test('a grant of any schema is a Grant', () => {
    expectTypeOf(clientCredentials()).toExtend<Grant>()
    expectTypeOf(refreshToken()).toExtend<Grant>()
    expectTypeOf(defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes }) })).toExtend<Grant>()
    const text = v.pipe(
      v.object({ a: v.string() }),
      v.transform(({ a }) => a),
    )
    expectTypeOf(
      defineGrant({ grantType: 'a', params: text, handle: ({ params, scopes }) => ({ scopes, nonce: params }) }),
    ).toExtend<Grant>()
  })

  test('the type of a grant keeps its schema', () => {
    expectTypeOf(defineGrant({ ...parts, handle: ({ scopes }) => ({ scopes }) })).toEqualTypeOf<Grant<typeof params>>()
  })

  test('a result may be returned synchronously or asynchronously', () => {
    expectTypeOf<ReturnType<Grant['handle']>>().toEqualTypeOf<GrantResult | Promise<GrantResult>>()
  })
})
