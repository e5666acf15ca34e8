import { closestName, quotableName } from '../config-schema.ts'
import type { Json, JsonObject } from '../types.ts'
import type { Endpoint } from './endpoint.ts'
import type { DiscoveryMembers, Fields } from './fields.ts'
import type { Owned } from './part-kind.ts'

/**
 * The members of the discovery document that the core writes, without the URLs of its endpoints. @see OpenID Connect Discovery 1.0 section 3; RFC 8414
 * section 2
 */
export type CoreMember =
  | 'issuer'
  | 'introspection_endpoint_auth_methods_supported'
  | 'revocation_endpoint_auth_methods_supported'
  | 'grant_types_supported'
  | 'response_types_supported'
  | 'response_modes_supported'
  | 'subject_types_supported'
  | 'id_token_signing_alg_values_supported'
  | 'token_endpoint_auth_methods_supported'
  | 'scopes_supported'
  | 'claims_supported'

/**
 * Whether a plugin may add to the member. Endpoints belong to the core, and the members that the core derives from
 * clients, keys and scopes are complete.
 */
const extensible: Readonly<Record<CoreMember, boolean>> = {
  issuer: false,
  introspection_endpoint_auth_methods_supported: false,
  revocation_endpoint_auth_methods_supported: false,
  grant_types_supported: false,
  response_types_supported: false,
  response_modes_supported: true,
  subject_types_supported: false,
  id_token_signing_alg_values_supported: false,
  token_endpoint_auth_methods_supported: true,
  scopes_supported: false,
  claims_supported: false,
}

const isExtensible = (member: string): boolean => Object.hasOwn(extensible, member) && extensible[member as 'issuer']
const isCoreMember = (member: string): boolean =>
  Object.hasOwn(extensible, member) || member.endsWith('_endpoint') || member === 'jwks_uri'

const isStringArray = (value: Json | undefined): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

/**
 * Collects the discovery members of the plugins. Arrays of strings with the same name are merged.
 *
 * @throws TypeError when a plugin sets a core member that is not extensible, or two plugins set a member that is not an
 * array of strings.
 */
function metadataOf(fields: readonly Owned<Fields>[], endpoints: readonly Owned<Endpoint>[]): JsonObject {
  const members = new Map<string, { readonly plugin: string; readonly value: Json }>()
  for (const { plugin, part } of fields) {
    for (const [member, value] of Object.entries(part.metadata ?? {})) {
      if (!/^[a-z]\w*$/u.test(member) || (isCoreMember(member) && !(isExtensible(member) && isStringArray(value)))) {
        throw new TypeError(`plugins: ${plugin} cannot set ${member} in the discovery document`)
      }
      const endpoint = endpoints.find((owned) => owned.part.metadataName === member)
      if (endpoint !== undefined) {
        throw new TypeError(`plugins: ${endpoint.plugin} and ${plugin} both set ${member} in the discovery document`)
      }
      const earlier = members.get(member)
      if (earlier === undefined) members.set(member, { plugin, value })
      else if (isStringArray(earlier.value) && isStringArray(value)) {
        members.set(member, { plugin, value: union(earlier.value, value) })
      } else {
        throw new TypeError(
          `plugins: ${earlier.plugin} and ${plugin} set ${member} in the discovery document; only arrays of strings are merged`,
        )
      }
    }
  }
  return Object.fromEntries([...members].map(([member, { value }]) => [member, value]))
}

const aliasesIn = (metadata: JsonObject): ReadonlyMap<string, unknown> =>
  new Map<string, unknown>(Object.entries(metadata.mtls_endpoint_aliases ?? {}))

/**
 * Rejects an alias of an endpoint that the provider does not have: no client would notice the mistake, because all
 * of them then use the URL of the endpoint itself.
 *
 * @throws TypeError
 * @see RFC 8705 section 5
 */
function assertAliases(metadata: JsonObject, endpoints: readonly string[]): void {
  const names = [...aliasesIn(metadata).keys()]
  const unknown = names.find((name) => !endpoints.includes(name))
  if (unknown === undefined) return
  const closest = closestName(unknown, endpoints)
  throw new TypeError(
    `plugins: mtls_endpoint_aliases names ${quotableName(unknown)}, which is not an endpoint in the discovery document${
      closest === undefined ? `; there are ${endpoints.join(', ')}` : `; did you mean ${closest}?`
    }`,
  )
}

/**
 * Returns the alias of an endpoint that a plugin announces.
 *
 * @see RFC 8705 section 5
 */
function endpointAliasIn(metadata: JsonObject, metadataName: string | undefined): string | undefined {
  const aliases = aliasesIn(metadata)
  const alias = metadataName === undefined ? undefined : aliases.get(metadataName)
  return typeof alias === 'string' ? alias : undefined
}

const union = (left: readonly string[], right: readonly string[]): readonly string[] => [
  ...new Set([...left, ...right]),
]

/** Merges the members of the plugins into those of the core. A member of both is an array that plugins may extend. */
function withPluginMetadata(core: JsonObject, plugins: JsonObject): JsonObject {
  const united = Object.entries(plugins).map(([member, value]) => {
    const coreValue = core[member]
    return [member, isStringArray(coreValue) && isStringArray(value) ? union(coreValue, value) : value]
  })
  return { ...core, ...Object.fromEntries(united) }
}

/** Returns what the plugins add to the discovery document. */
export function discoveryMembersOf(
  fields: readonly Owned<Fields>[],
  endpoints: readonly Owned<Endpoint>[],
): DiscoveryMembers {
  const metadata = metadataOf(fields, endpoints)
  return {
    aliasOf: (metadataName) => endpointAliasIn(metadata, metadataName),
    assertAliases: (names) => assertAliases(metadata, names),
    extend: (core, more) => withPluginMetadata(core, { ...more, ...metadata }),
  }
}
