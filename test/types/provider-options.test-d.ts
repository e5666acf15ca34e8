import {
  type AtomicDriver,
  createProvider,
  type Handler,
  type PluginPart,
  type Provider,
  type ProviderOptions,
} from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { password } from '@grantry/plugins/password'
import { proofKey } from '@grantry/plugins/proof-key'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { type MemoryDriver, memoryDriver } from '@grantry/storage-drivers/memory'
import type { Driver } from 'unstorage'
import * as v from 'valibot'
import { describe, expectTypeOf, test } from 'vitest'

declare const good: ProviderOptions

const params = v.object({ badge_id: v.string() })
const handle = ({ scopes }: { readonly scopes: readonly string[] }) => ({ scopes })

/** Stands for the type of `plugins`. */
declare function plug(plugins: ProviderOptions['plugins']): void

describe('createProvider()', () => {
  test('is awaited, and returns handlers', () => {
    expectTypeOf(createProvider).returns.resolves.toEqualTypeOf<Provider>()
    expectTypeOf<Provider['handlers']['token']>().toEqualTypeOf<Handler>()
    expectTypeOf<ReturnType<Handler>>().toEqualTypeOf<Promise<Response>>()
  })

  test('rejects unknown options, at every depth', () => {
    // @ts-expect-error a mistyped option would be ignored
    createProvider({ ...good, isuer: 'x' })
    // @ts-expect-error the endpoint would stay on
    createProvider({ ...good, endpoints: { acessTokenValidation: false } })
    // @ts-expect-error the behavior of the seed would stay off
    createProvider({ ...good, introspection: { unrelatedScopes: 'unauthorized' } })
    // @ts-expect-error the limit would keep its default
    createProvider({ ...good, abuseControl: { passwords: { perUsr: { failures: 3 } } } })
    // @ts-expect-error every user would count as active
    createProvider({ ...good, users: { isActve: () => false } })
    // @ts-expect-error the wall clock would stay in use
    createProvider({ ...good, runtime: { clock: () => 1 } })
    // @ts-expect-error a client has secrets
    createProvider({ ...good, clients: [{ clientId: 'a', secret: 'x' }] })
    // @ts-expect-error a secret is stored as its hash
    createProvider({ ...good, clients: [{ clientId: 'a', secrets: [{ plain: 'x' }] }] })
    // @ts-expect-error a scope has secrets
    createProvider({ ...good, scopes: [{ name: 'a', secret: 'x' }] })
  })

  test('rejects values of a wrong type', () => {
    // @ts-expect-error a path begins with a slash
    createProvider({ ...good, endpoints: { token: 'oauth/token' } })
    // @ts-expect-error plain text is never stored
    createProvider({ ...good, clients: [{ clientId: 'a', secrets: ['x'] }] })
    // @ts-expect-error true does not name the authenticated user
    createProvider({ ...good, users: { authenticate: () => true } })
  })

  test('requires issuer, keys, storage, clients and plugins', () => {
    expectTypeOf<{
      [K in keyof ProviderOptions as undefined extends ProviderOptions[K] ? never : K]: true
    }>().toEqualTypeOf<{ readonly issuer: true; readonly keys: true; readonly storage: true; readonly clients: true }>()
    expectTypeOf<Omit<ProviderOptions, 'plugins'>>().not.toExtend<ProviderOptions>()
  })

  test('rejects a storage that cannot insert atomically', () => {
    expectTypeOf<Driver>().not.toExtend<AtomicDriver>()
    expectTypeOf(memoryDriver()).toEqualTypeOf<MemoryDriver>()
    expectTypeOf<MemoryDriver>().toExtend<AtomicDriver>()
    // Drivers remain unstorage drivers.
    expectTypeOf<MemoryDriver>().toExtend<Driver<undefined, Map<string, unknown>>>()
  })
})

describe('plugins', () => {
  test('accept the built-in ones, conditions and nested lists', () => {
    plug([clientCredentials(), password(), authorizationCode(), proofKey(), refreshToken()])
    plug([Math.PI > 3 && password(), null, undefined, [authorizationCode(), [proofKey()]]])
  })

  test('are not any', () => {
    expectTypeOf<PluginPart>().not.toBeAny()
    expectTypeOf<Extract<PluginPart, { kind: 'grant' }>['params']>().not.toBeAny()
    // An `any` here lets a hand-written check settle undeclared demands.
    expectTypeOf<Extract<PluginPart, { kind: 'grant-check' }>['settles']>().not.toBeAny()
  })

  test('reject a value that is not a plugin', () => {
    // @ts-expect-error a factory that was not called
    plug([clientCredentials])
    // @ts-expect-error a name
    plug(['password'])
    // @ts-expect-error a condition that is true
    plug([true])
    // @ts-expect-error a promise
    plug([Promise.resolve(clientCredentials())])
    // @ts-expect-error an object of plugins
    plug({ clientCredentials: clientCredentials() })
    // @ts-expect-error an empty object
    plug([{}])
  })

  test('reject an invalid grant, also without defineGrant()', () => {
    // @ts-expect-error without handle()
    plug([{ kind: 'grant', grantType: 'a', params }])
    // @ts-expect-error with an invalid result
    plug([{ kind: 'grant', grantType: 'a', params, handle: () => 5 }])
    // @ts-expect-error of another kind
    plug([{ kind: 'grnt', grantType: 'a', params, handle }])
    // @ts-expect-error with params that are not a schema: nothing would be validated
    plug([{ kind: 'grant', grantType: 'a', params: { badge_id: v.string() }, handle }])
    // @ts-expect-error with params that are a number
    plug([{ kind: 'grant', grantType: 'a', params: 5, handle }])
  })

  test('reject an invalid check, also without defineGrantCheck()', () => {
    // @ts-expect-error without check()
    plug([{ kind: 'grant-check', settles: 'proof_key', grantTypes: ['a'], params }])
    // @ts-expect-error that settles an undeclared demand
    plug([{ kind: 'grant-check', settles: 'proofkey', grantTypes: ['a'], params, check() {} }])
    // @ts-expect-error that settles a number
    plug([{ kind: 'grant-check', settles: 5, grantTypes: ['a'], params, check() {} }])
    // @ts-expect-error with params that are not a schema
    plug([{ kind: 'grant-check', settles: 'proof_key', grantTypes: ['a'], params: 5, check() {} }])
  })
})
