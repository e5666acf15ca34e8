import { isJsonObject, type MetadataName, metadataNames } from '@grantry/core'
import type { Members } from '../differences.ts'
import {
  finished,
  secretsOf as hashesOf,
  knownAlgorithm,
  knownGrants,
  knownOrigins,
  knownUris,
} from './client-draft.ts'
import { secondsEnd } from './exported-values.ts'
import type { Consequence } from './imported.ts'
import { type Known, knownOfMetadata, type Reader } from './reader.ts'

/** The members that are read as they are, by the form of their values. */
const membersOf = (form: MetadataName['form']) =>
  Object.entries(metadataNames).flatMap(([name, known]) =>
    known.form === form && known.member !== undefined ? [[name, known.member] as const] : [],
  )
const texts = membersOf('text')
const flags = membersOf('flag')

/** Consequences of names that are no metadata of a standard, and texts that say more. */
const consequences: ReadonlyMap<string, readonly [Consequence, string?]> = new Map([
  ['subject_type', ['sub']],
  ['audience', ['token']],
  ['owner', ['cosmetic']],
  ['metadata', ['unknown']],
])
/** The consequences of members without a counterpart. */
export const knownOfRegistered: Known = (member) => consequences.get(member) ?? knownOfMetadata(member)

/** A hash that is no SHA-256: bcrypt, PBKDF2, argon2, scrypt. */
const foreignHash = /^\$(?:2[aby]|pbkdf2|argon2|scrypt)/u

function secretsOf(reader: Reader): readonly Members[] | undefined {
  const secret = reader.text('client_secret')
  const end = secondsEnd(reader.take('client_secret_expires_at'))
  if (secret === undefined) return undefined
  if (foreignHash.test(secret)) {
    reader.note(
      'client_secret',
      'is a hash that cannot be taken over (only SHA-256 and SHA-512 can); the client gets a new secret',
      'sign-in',
    )
    return undefined
  }
  const secrets = hashesOf(secret, 'client_secret', reader, end)
  return secrets.length > 0 ? secrets : undefined
}

function methodOf(reader: Reader): Members {
  const method = reader.text('token_endpoint_auth_method')
  if (method === 'none') return { public: true }
  if (method === 'client_secret_jwt') {
    reader.changed(
      'token_endpoint_auth_method',
      'client_secret_jwt needs a function of the host; the client can use its secret',
      'sign-in',
    )
    return {}
  }
  return { tokenEndpointAuthMethod: method }
}

/** Names that other servers have for scopes. */
const scopeNames: ReadonlyMap<string, string> = new Map([['offline', 'offline_access']])

/** Returns the scopes of a client. One without a list could ask for all of them (RFC 7591 section 2). */
function scopesOf(reader: Reader, grants: readonly string[]): readonly string[] {
  const scope = reader.take('scope')
  if (scope === undefined && grants.includes('authorization_code')) {
    const scopes = ['openid', ...(grants.includes('refresh_token') ? ['offline_access'] : [])]
    const consequence = `the client gets ${scopes.join(' ')}: add those that it needs`
    reader.changed('scope', `is missing, and stands for all scopes there; ${consequence}`, 'sign-in')
    return scopes
  }
  const names = typeof scope === 'string' ? scope.split(' ') : Array.isArray(scope) ? scope.map(String) : []
  return [...new Set(names.filter((name) => name !== '').map((name) => scopeNames.get(name) ?? name))]
}

/** Reads a client with the members of RFC 7591. */
export function registeredClient(clientId: string, reader: Reader, more: (reader: Reader) => Members): Members {
  const { text, flag, note } = reader
  const grants = reader.take('grant_types') === undefined ? ['authorization_code'] : reader.texts('grant_types')
  const responses = reader.texts('response_types').filter((type) => type !== 'code')
  for (const type of responses) note('response_types', `the response type ${type} has no counterpart`, 'sign-in')
  // Exports have an empty object for a client without keys.
  const exportedKeys = reader.take('jwks')
  const jwks =
    isJsonObject(exportedKeys) && Array.isArray(exportedKeys.keys) && exportedKeys.keys.length > 0
      ? exportedKeys
      : undefined
  const method = methodOf(reader)
  const secrets = secretsOf(reader)
  if (method.public === true && secrets !== undefined)
    note('client_secret', 'was left out: the client is public', 'cosmetic')
  reader.ignore(['frontchannel_logout_session_required'], false, true)
  reader.ignore(['subject_type'], 'public')
  reader.ignore(['application_type', 'client_id_issued_at', 'client_id'])
  const client: Members = {
    clientId,
    ...method,
    ...(secrets !== undefined && method.public !== true && { secrets }),
    grantTypes: knownGrants(grants, 'grant_types', reader),
    scopes: scopesOf(reader, grants),
    redirectUris: knownUris(reader.texts('redirect_uris'), 'redirect_uris', reader),
    postLogoutRedirectUris: knownUris(reader.texts('post_logout_redirect_uris'), 'post_logout_redirect_uris', reader),
    allowedCorsOrigins: knownOrigins(reader.texts('allowed_cors_origins'), 'allowed_cors_origins', reader),
    contacts: reader.texts('contacts'),
    identityTokenAlgorithm: knownAlgorithm(
      text('id_token_signed_response_alg'),
      'id_token_signed_response_alg',
      reader,
    ),
    defaultMaxAge: reader.number('default_max_age') || undefined,
    jwks,
    ...Object.fromEntries(texts.map(([from, to]) => [to, text(from)])),
    // `false` is the default of each.
    ...Object.fromEntries(flags.map(([from, to]) => [to, flag(from, true) || undefined])),
    ...more(reader),
  }
  const result = finished(client, reader)
  reader.end()
  return result
}
