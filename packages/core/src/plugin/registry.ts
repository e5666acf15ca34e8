import type { JsonObject } from '../json.ts'
import type { Grant } from './grant.ts'
import type { GrantCheck, Proofs } from './grant-check.ts'

// biome-ignore lint/suspicious/noExplicitAny: a list holds grants of different parameters; each one's schema guards its own handle().
export type AnyGrant = Grant<any>
// biome-ignore lint/suspicious/noExplicitAny: as above, for checks.
export type AnyGrantCheck = GrantCheck<any, any>

/** What a factory returns: one plugin, several that belong together, or nothing (`condition && plugin()`). */
export type Plugin = AnyGrant | AnyGrantCheck | readonly Plugin[] | false | null | undefined

/** The plugins of one provider, by the names they claim. */
export interface Registry {
  readonly grants: ReadonlyMap<string, AnyGrant>
  /** The checks that run on a grant type; the same array every time. */
  checksOf(grantType: string): readonly AnyGrantCheck[]
  readonly metadata: JsonObject
}

// RFC 6749 appendix A.10: a name of letters, digits, `-`, `.`, `_`, or a URI reference.
const grantTypeForm = /^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/u

function assertGrant(grant: AnyGrant): void {
  if (typeof grant.grantType !== 'string' || !grantTypeForm.test(grant.grantType)) {
    throw new TypeError(
      `plugins: "${String(grant.grantType)}" is no grant type; take a short name or an absolute URI of at most 100 characters`,
    )
  }
  if (typeof grant.handle !== 'function' || typeof grant.params !== 'object') {
    throw new TypeError(`plugins: the grant ${grant.grantType} needs params (a valibot schema) and handle()`)
  }
}

/** @throws TypeError when two plugins claim one name, or one of them is no plugin. */
export function createRegistry(plugins: Plugin): Registry {
  const grants = new Map<string, AnyGrant>()
  const checks = new Map<keyof Proofs, AnyGrantCheck>()
  const metadata: Record<string, JsonObject[string]> = {}

  const add = (plugin: Plugin): void => {
    if (!plugin) return
    if (Array.isArray(plugin)) {
      for (const part of plugin) add(part)
      return
    }
    const single = plugin as AnyGrant | AnyGrantCheck
    if (single.kind === 'grant') {
      assertGrant(single)
      if (grants.has(single.grantType)) {
        throw new TypeError(`plugins: two plugins bring the grant type ${single.grantType}; leave one of them out`)
      }
      grants.set(single.grantType, single)
    } else if (single.kind === 'grant-check') {
      if (checks.has(single.settles)) {
        throw new TypeError(`plugins: two plugins settle the demand ${single.settles}; leave one of them out`)
      }
      checks.set(single.settles, single)
      for (const [name, value] of Object.entries(single.metadata ?? {})) {
        if (name in metadata) throw new TypeError(`plugins: two plugins set ${name} in the discovery document`)
        metadata[name] = value
      }
    } else {
      throw new TypeError('plugins: an entry is no plugin; did you forget to call its factory, as in password()?')
    }
  }
  add(plugins)

  const checksByGrantType = new Map<string, readonly AnyGrantCheck[]>()
  for (const grantType of grants.keys()) {
    checksByGrantType.set(
      grantType,
      [...checks.values()].filter((check) => check.grantTypes.includes(grantType)),
    )
  }
  const none: readonly AnyGrantCheck[] = []
  return { grants, checksOf: (grantType) => checksByGrantType.get(grantType) ?? none, metadata }
}
