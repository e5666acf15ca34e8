import type { Client } from '@grantry/core'
import * as v from 'valibot'
import { jwksUriSchema } from './jwks-settings.ts'
import { jwksSchema } from './key-set.ts'

/** The public keys of a client. */
export interface ClientJwks {
  readonly keys: readonly { readonly kty: string; readonly [member: string]: unknown }[]
}

// Each plugin with these members declares them: a declaration here would not be part of its types.

interface KeyMembers {
  readonly jwks?: ClientJwks | undefined
  readonly jwksUri?: string | undefined
}

// Plugins can define the same member only with the same schema.
const jwks = v.optional(jwksSchema)
const publicUri = v.optional(jwksUriSchema(false))
const anyUri = v.optional(jwksUriSchema(true))

/** The members of a client for its public keys. */
export const clientKeyEntries = (allowPrivateAddresses: boolean) => ({
  jwks,
  jwksUri: allowPrivateAddresses ? anyUri : publicUri,
})

/**
 * Whether the client has public keys.
 *
 * @throws TypeError if it has both `jwks` and `jwksUri`.
 */
export function hasKeys({ clientId, jwks: keys, jwksUri }: Client & KeyMembers): boolean {
  if (keys !== undefined && jwksUri !== undefined) {
    throw new TypeError(`clients: ${clientId} has both jwks and jwksUri; remove one of them`)
  }
  return keys !== undefined || jwksUri !== undefined
}
