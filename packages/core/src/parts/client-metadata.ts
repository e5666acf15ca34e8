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

/** Names that registrations and metadata documents read themselves, and those of the response (RFC 7591 sections 2 and 3.2.1). */
const reserved =
  /^(?:redirect_uris|post_logout_redirect_uris|(?:grant|response)_types|scope|jwks(?:_uri)?|token_endpoint_auth_methods?(?:_supported)?|id_token_signing_alg_values_supported|(?:client|logo|policy|tos)_uri|client_(?:name|id|secret)(?:_\w+_at)?|software_\w+|application_type|registration_\w+|require_auth_time)$/u

const isName = (name: string): boolean => /^[a-z][\w.-]{0,99}$/u.test(name) && !(name in {}) && !reserved.test(name)

/** The names of a plugin, and the members that it defines. */
interface Contribution {
  readonly plugin: string
  readonly names: Readonly<Record<string, string>>
  readonly members: v.ObjectEntries
}

/**
 * Collects the names that the core and plugins have for members. A plugin has names for its own members only: with one for
 * another member, such as `scopes`, a client could decide about it.
 *
 * @throws TypeError when a name stands for two members, for one that the plugin does not define, or for what the core reads
 */
export function clientMetadataNames(contributions: readonly Contribution[]): ClientMetadataNames {
  const core: Contribution = { plugin: 'core', names: coreNames, members: clientEntries }
  const names = new Map<string, MetadataMember>()
  for (const { plugin, names: more, members } of [core, ...contributions]) {
    for (const [name, member] of Object.entries<string>(more)) {
      const schema = Object.hasOwn(members, member) ? (members[member] as v.GenericSchema) : undefined
      const earlier = names.get(name)?.member ?? member
      const what = `plugins: ${plugin} has the metadata name ${name} for ${member}`
      if (schema === undefined) throw new TypeError(`${what}, which is no member of a client that it defines`)
      if (!isName(name)) throw new TypeError(`${what}, which is no name that a plugin can have`)
      if (earlier !== member) throw new TypeError(`${what}, which stands for ${earlier}`)
      names.set(name, { member, schema })
    }
  }
  return names
}
