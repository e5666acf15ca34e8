import type { JsonObject } from '../json.ts'
import { declaredParameters } from './declared-parameters.ts'
import type { Grant } from './grant.ts'
import type { GrantCheck, Proofs } from './grant-check.ts'
import { metadataOfChecks } from './metadata.ts'

/** What a factory returns: one plugin, several that belong together, or nothing (`condition && plugin()`). */
export type Plugin = Grant | GrantCheck | readonly Plugin[] | false | null | undefined

/** The plugins of one provider, by the names they claim. */
export interface Registry {
  readonly grants: ReadonlyMap<string, Grant>
  /** The checks that run on a grant type; the same array every time. */
  checksOf(grantType: string): readonly GrantCheck[]
  /** Whether a grant of this type, or a check that runs on it, reads the parameter. */
  declares(grantType: string, parameter: string): boolean
  readonly metadata: JsonObject
}

// RFC 6749 appendix A.10: a name of letters, digits, `-`, `.`, `_`, or a URI reference.
const grantTypeForm = /^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/u

/** Read by the core, and not handed to a grant. */
const coreParameters = ['grant_type', 'scope', 'client_id', 'client_secret'] as const

const isSchema = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema'

function assertOneOf(plugin: string, name: string, value: unknown, known: readonly unknown[]): void {
  if (value === undefined || known.includes(value)) return
  throw new TypeError(`plugins: ${plugin} has an unknown value of ${name}; known are ${known.join(', ')}`)
}

function assertGrant(grant: Grant): void {
  if (typeof grant.grantType !== 'string' || !grantTypeForm.test(grant.grantType)) {
    throw new TypeError(
      `plugins: "${String(grant.grantType)}" is no grant type; take a short name or an absolute URI of at most 100 characters`,
    )
  }
  const name = `the grant ${grant.grantType}`
  if (typeof grant.handle !== 'function' || !isSchema(grant.params)) {
    throw new TypeError(`plugins: ${name} needs params (a valibot schema) and handle()`)
  }
  const taken = coreParameters.find(
    (parameter) => 'entries' in grant.params && parameter in Object(grant.params.entries),
  )
  if (taken !== undefined) {
    throw new TypeError(`plugins: ${name} may not have ${taken} in its params: it belongs to the core`)
  }
  assertOneOf(name, 'scope', grant.scope, ['required', 'optional', 'ignored'])
  assertOneOf(name, 'publicClients', grant.publicClients, [true, false])
  for (const required of grant.requires ?? []) assertOneOf(name, 'requires', required, ['users.authenticate'])
}

function assertCheck(check: GrantCheck): void {
  if (typeof check.settles !== 'string' || check.settles === ('' as string)) {
    throw new TypeError('plugins: a grant check needs settles, the name of the demand that it settles')
  }
  const name = `the check of ${check.settles}`
  if (typeof check.check !== 'function' || !isSchema(check.params)) {
    throw new TypeError(`plugins: ${name} needs params (a valibot schema) and check()`)
  }
  if (!Array.isArray(check.grantTypes) || check.grantTypes.length === 0) {
    throw new TypeError(`plugins: ${name} needs grantTypes, an array of the grant types that it runs on`)
  }
}

/** @throws TypeError when two plugins claim one name, or one of them is no plugin. */
export function createRegistry(plugins: Plugin): Registry {
  const grants = new Map<string, Grant>()
  const checks = new Map<keyof Proofs, GrantCheck>()

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
        throw new TypeError(`plugins: two plugins bring the grant type ${single.grantType}; leave one of them out`)
      }
      grants.set(single.grantType, single)
    } else if (single.kind === 'grant-check') {
      assertCheck(single)
      if (checks.has(single.settles)) {
        throw new TypeError(`plugins: two plugins settle the demand ${single.settles}; leave one of them out`)
      }
      checks.set(single.settles, single)
    } else {
      throw new TypeError('plugins: an entry is no plugin; did you forget to call its factory, as in password()?')
    }
  }
  add(plugins)

  const checksByGrantType = new Map<string, readonly GrantCheck[]>()
  /** Absent where one of them may read any parameter. */
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
