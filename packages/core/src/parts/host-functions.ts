import * as v from 'valibot'
import { isObject } from '../json.ts'
import type { EndpointKit } from './endpoint.ts'
import { byClaim, type Defined, type Owned, partKind, required } from './part-kind.ts'

/** Carries the type of the functions. No value has this member. */
declare const functions: unique symbol

/**
 * Names the functions that a plugin offers to the host, and has their type. The module of the plugin exports it, and
 * `provider.use(key)` returns the functions.
 */
export interface HostKey<F extends object = object> {
  readonly kind: 'host-key'
  /** Keys with the same name are equal: a program can contain a module twice. */
  readonly name: string
  /** The plugins that offer the functions, for the error when none is installed. */
  readonly offeredBy: string
  readonly [functions]?: F | undefined
}

/** The functions of a key. */
export type FunctionsOf<K extends HostKey> = K extends HostKey<infer F extends object> ? F : never

/**
 * Functions of a plugin for the host: its pages, programs and commands. The provider creates them when it is first asked
 * for them, once, with the kit of the plugin.
 */
export interface HostFunctions extends Defined<'host-functions'> {
  readonly key: HostKey
  create(kit: EndpointKit): object
}

/** How a host reaches the plugins of its provider. */
export interface UsePlugins {
  /**
   * Returns the functions that a plugin offers to the host, such as `provider.use(userSessions)`: the same value each
   * time. They belong to this provider.
   *
   * @throws TypeError when no installed plugin offers them.
   */
  use<F extends object>(key: HostKey<F>): F
  /** Whether an installed plugin offers these functions. */
  has(key: HostKey): boolean
}

const keyName = /^[a-z][a-z\d-]{0,49}$/u

/**
 * Creates a key for the functions of a plugin.
 *
 * @param name lower-case letters, digits and hyphens, at most 50 characters. Begin it with the name of your plugin
 * @param offeredBy the plugins that offer the functions, such as `library()`, for the error when none is installed
 * @throws TypeError when the name is not valid.
 * @example
 * export const loans = hostKey<Loans>('library-loans', 'library()')
 */
export function hostKey<F extends object>(name: string, offeredBy: string): HostKey<F> {
  if (!keyName.test(name)) {
    throw new TypeError(`hostKey(): "${name}" is not a valid name; use lower-case letters, digits and hyphens`)
  }
  return Object.freeze({ kind: 'host-key', name, offeredBy } as const)
}

const isKey = (value: unknown): value is HostKey =>
  isObject(value) && 'kind' in value && value.kind === 'host-key' && 'name' in value && typeof value.name === 'string'

/** Creates `use` and `has` of a provider. */
export type CreateUsePlugins = (kitOf: (plugin: string) => EndpointKit) => UsePlugins

function nameOf(key: HostKey, caller: string): string {
  if (isKey(key)) return key.name
  throw new TypeError(`provider.${caller}() requires a key that the module of a plugin exports, such as userSessions`)
}

const notOffered = ({ name, offeredBy }: HostKey): TypeError =>
  new TypeError(`provider.use(): no plugin offers ${name}; add ${offeredBy} to the option plugins`)

export const noHostFunctions: CreateUsePlugins = () => ({
  use(key) {
    nameOf(key, 'use')
    throw notOffered(key)
  },
  has(key) {
    nameOf(key, 'has')
    return false
  },
})

/** @throws TypeError when two plugins offer the same functions. */
function usePluginsOf(parts: readonly Owned<HostFunctions>[]): CreateUsePlugins {
  const offered = byClaim(parts, 'the host functions', ({ key }) => key.name)
  return (kitOf) => {
    const created = new Map<string, object>()

    function create(name: string, key: HostKey): object {
      const owned = offered.get(name)
      if (owned === undefined) throw notOffered(key)
      const functions: unknown = owned.part.create(kitOf(owned.plugin))
      if (!isObject(functions)) {
        throw new TypeError(`plugins: the host functions ${name} of ${owned.plugin} are not an object`)
      }
      created.set(name, functions)
      return functions
    }

    return {
      use<F extends object>(key: HostKey<F>): F {
        const name = nameOf(key, 'use')
        return (created.get(name) ?? create(name, key)) as F
      },
      has: (key) => offered.has(nameOf(key, 'has')),
    }
  }
}

const hostFunctionsKind = /* @__PURE__ */ partKind<HostFunctions, CreateUsePlugins>('host-functions', {
  title: 'host functions',
  schemas: () => ({
    key: v.custom((value) => isKey(value) && keyName.test(value.name), 'must be a key of hostKey()'),
    create: required(),
  }),
  collect: usePluginsOf,
})

/**
 * Defines functions for the host.
 *
 * @example
 * const functions = defineHostFunctions(loans, (kit) => ({ of: (sub) => kit.records.get(sub, loanSchema) }))
 */
export const defineHostFunctions = <K extends HostKey>(
  key: K,
  create: (kit: EndpointKit) => FunctionsOf<K>,
): HostFunctions => ({ kind: 'host-functions', key, create, '~kind': hostFunctionsKind })
