import type { ImportFunction } from './imported.ts'
import type { Reader } from './reader.ts'
import { importRegistered } from './registered-clients.ts'

function membersOf(reader: Reader) {
  reader.ignore(['require_auth_time', 'require_signed_request_object'], false)
  reader.ignore(['request_uris', 'introspection_endpoint_auth_method', 'revocation_endpoint_auth_method'])
  // Opaque tokens are its default.
  return { accessTokenFormat: 'reference' }
}

/** Imports clients of oidc-provider: the list `clients` of its configuration, as JSON. */
export const importOidcProvider: ImportFunction = async (files) => importRegistered(files, membersOf)
