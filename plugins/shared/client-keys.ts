import { type Client, type MembersOf, member } from '@grantry/core'
import * as v from 'valibot'
import { jwksUriSchema } from './jwks-settings.ts'
import { jwksSchema } from './key-set.ts'

/** The public keys of a client. */
export interface ClientJwks {
  readonly keys: readonly { readonly kty: string; readonly [member: string]: unknown }[]
}

// Plugins can define the same member only with the same schema.
const membersFor = (allowPrivateAddresses: boolean) => ({
  /** The public keys of the client. */
  jwks: member(v.optional(jwksSchema as v.GenericSchema<unknown, ClientJwks>), {
    title: 'Keys',
    text: 'Its public keys, as a JWK set. It signs assertions with the private ones.',
    group: 'keys',
  }),
  /** The URL at which the client publishes its public keys, instead of `jwks`. */
  jwksUri: member(v.optional(jwksUriSchema(allowPrivateAddresses)), {
    title: 'Address of its keys',
    text: 'Where it publishes its public keys, as a JWK set, instead of them here.',
    group: 'keys',
  }),
})
const publicMembers = membersFor(false)
const anyMembers = { ...membersFor(true), jwks: publicMembers.jwks }

/** The members of a client for its public keys. Each plugin with them declares `ClientKeyMembers`: its types need no other. */
export const clientKeyMembers = (allowPrivateAddresses: boolean) => (allowPrivateAddresses ? anyMembers : publicMembers)

export type ClientKeyMembers = MembersOf<typeof publicMembers>

/**
 * Whether the client has public keys.
 *
 * @throws TypeError if it has both `jwks` and `jwksUri`.
 */
export function hasKeys({ clientId, jwks: keys, jwksUri }: Client & ClientKeyMembers): boolean {
  if (keys !== undefined && jwksUri !== undefined) {
    throw new TypeError(`clients: ${clientId} has both jwks and jwksUri; remove one of them`)
  }
  return keys !== undefined || jwksUri !== undefined
}
