import type * as v from 'valibot'
import { clientEntries } from '../directory/client-members.ts'

/** A member of a client that a name in its metadata stands for. */
export interface MetadataMember {
  readonly member: string
  readonly schema: v.GenericSchema
}

/** The members of clients, by their names in metadata (RFC 7591). */
export type ClientMetadataNames = ReadonlyMap<string, MetadataMember>

/** OpenID Connect Dynamic Client Registration 1.0 section 2. */
const coreNames = { id_token_signed_response_alg: 'identityTokenAlgorithm' } as const

/**
 * Collects the names that the core and plugins have for members.
 *
 * @throws TypeError when a name stands for two members, or for one that no plugin defines
 */
export function clientMetadataNames(
  contributions: readonly { readonly plugin: string; readonly names: Readonly<Record<string, string>> }[],
  members: v.ObjectEntries,
): ClientMetadataNames {
  const entries = { ...clientEntries, ...members }
  const names = new Map<string, MetadataMember>()
  for (const { plugin, names: more } of [{ plugin: 'core', names: coreNames }, ...contributions]) {
    for (const [name, member] of Object.entries<string>(more)) {
      const schema = Object.hasOwn(entries, member) ? (entries[member as 'scopes'] as v.GenericSchema) : undefined
      const earlier = names.get(name)?.member ?? member
      const what = `plugins: ${plugin} has the metadata name ${name} for ${member}`
      if (schema === undefined) throw new TypeError(`${what}, which is no member of a client`)
      if (earlier !== member) throw new TypeError(`${what}, which stands for ${earlier}`)
      names.set(name, { member, schema })
    }
  }
  return names
}
