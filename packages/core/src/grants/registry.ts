import type { GenericSchema } from 'valibot'
import type { Demands, Grant } from '../plugin/grant.ts'
import type { GrantCheck } from '../plugin/grant-check.ts'
import type { JsonObject } from '../types.ts'
import { metadataOfChecks } from './plugin-metadata.ts'

/** One plugin, an array of plugins, or a falsy value, so that `condition && plugin()` works. */
export type Plugin = Grant | GrantCheck | readonly Plugin[] | false | null | undefined

/** The plugins of a provider, by name. */
export interface Registry {
  readonly grants: ReadonlyMap<string, Grant>
  /** The checks that run on a grant type. Returns the same array every time. */
  checksOf(grantType: string): readonly GrantCheck[]
  /** Whether the grant type, or a check that runs on it, declares the parameter. */
  declares(grantType: string, parameter: string): boolean
  readonly metadata: JsonObject
}

// RFC 6749 appendix A.10: a name of letters, digits, `-`, `.`, `_`, or a URI reference.
const grantTypeForm = /^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/u

/** Parameters that the core reads. A grant cannot declare them, and does not receive them. */
export const coreParameters: ReadonlySet<string> = new Set(['grant_type', 'scope', 'client_id', 'client_secret'])

const isSchema = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema'

function assertOneOf(plugin: string, name: string, value: unknown, known: readonly unknown[]): void {
  if (value === undefined || known.includes(value)) return
  throw new TypeError(`plugins: ${plugin} has an unknown value of ${name}; known values: ${known.join(', ')}`)
}

function assertGrant(grant: Grant): void {
  if (typeof grant.grantType !== 'string' || !grantTypeForm.test(grant.grantType)) {
    throw new TypeError(
      `plugins: "${String(grant.grantType)}" is not a valid grant type; use a short name or an absolute URI of at most 100 characters`,
    )
  }
  const name = `the grant ${grant.grantType}`
  if (typeof grant.handle !== 'function' || !isSchema(grant.params)) {
    throw new TypeError(`plugins: ${name} requires params (a valibot schema) and handle()`)
  }
  const taken = [...coreParameters].find(
    (parameter) => 'entries' in grant.params && parameter in Object(grant.params.entries),
  )
  if (taken !== undefined) {
    throw new TypeError(`plugins: ${name} cannot have ${taken} in params, because the core reads it; remove it`)
  }
  assertOneOf(name, 'scope', grant.scope, ['required', 'optional', 'ignored'])
  assertOneOf(name, 'publicClients', grant.publicClients, [true, false])
  for (const required of grant.requires ?? []) assertOneOf(name, 'requires', required, ['users.authenticate'])
}

function assertCheck(check: GrantCheck): void {
  if (typeof check.settles !== 'string' || check.settles === ('' as string)) {
    throw new TypeError('plugins: a grant check requires settles, the name of the demand that it settles')
  }
  const name = `the check of ${check.settles}`
  if (typeof check.check !== 'function' || !isSchema(check.params)) {
    throw new TypeError(`plugins: ${name} requires params (a valibot schema) and check()`)
  }
  if (!Array.isArray(check.grantTypes) || check.grantTypes.length === 0) {
    throw new TypeError(`plugins: ${name} requires grantTypes, an array of the grant types that it runs on`)
  }
}

/** The parts of a valibot schema that list its entries. */
interface Shape {
  readonly type: string
  readonly entries?: object
  readonly options?: readonly unknown[]
}

/**
 * Returns the parameter names that a schema declares: the entries of an object, and of every object in a union, variant
 * or intersection. Returns `undefined` if the schema accepts any name (`looseObject`, `record`, other kinds).
 */
function declaredParameters(schema: GenericSchema): readonly string[] | undefined {
  const { type, entries, options } = schema as unknown as Shape
  if (type === 'object' || type === 'strict_object') return Object.keys(entries ?? {})
  if (type !== 'union' && type !== 'variant' && type !== 'intersect') return undefined
  const names = (options ?? []).map((option) => declaredParameters(option as GenericSchema))
  return names.every((declared) => declared !== undefined) ? names.flat() : undefined
}

/** @throws TypeError when two plugins have the same name, or an entry is not a plugin. */
export function createRegistry(plugins: Plugin): Registry {
  const grants = new Map<string, Grant>()
  const checks = new Map<keyof Demands, GrantCheck>()

  const add = (plugin: Plugin): void => {
    if (!plugin) return
    if (Array.isArray(plugin)) {
      for (const part of plugin) add(part)
      return
    }
    const single = plugin as Grant | GrantCheck
    if (single.kind === 'grant') {
      assertGrant(single)
      if (grants.has(single.grantType)) {
        throw new TypeError(`plugins: two plugins provide the grant type ${single.grantType}; remove one of them`)
      }
      grants.set(single.grantType, single)
    } else if (single.kind === 'grant-check') {
      assertCheck(single)
      if (checks.has(single.settles)) {
        throw new TypeError(`plugins: two plugins settle the demand ${single.settles}; remove one of them`)
      }
      checks.set(single.settles, single)
    } else {
      throw new TypeError('plugins: an entry is not a plugin; did you forget to call its factory, as in password()?')
    }
  }
  add(plugins)

  const checksByGrantType = new Map<string, readonly GrantCheck[]>()
  /** Has no entry for a grant type if its grant or a check accepts any parameter. */
  const declaredByGrantType = new Map<string, ReadonlySet<string>>()
  for (const [grantType, { params }] of grants) {
    const itsChecks = [...checks.values()].filter((check) => check.grantTypes.includes(grantType))
    checksByGrantType.set(grantType, itsChecks)
    const declared = [params, ...itsChecks.map((check) => check.params)].map(declaredParameters)
    if (!declared.includes(undefined))
      declaredByGrantType.set(grantType, new Set(declared.flatMap((names) => names ?? [])))
  }
  const none: readonly GrantCheck[] = []
  return {
    grants,
    checksOf: (grantType) => checksByGrantType.get(grantType) ?? none,
    declares: (grantType, parameter) => declaredByGrantType.get(grantType)?.has(parameter) ?? true,
    metadata: metadataOfChecks(checks.values()),
  }
}
