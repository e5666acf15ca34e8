import { configurationObject, parseUrl } from '@grantry/core'
import * as v from 'valibot'
import { jwksUriSettingsSchema } from '../shared/jwks-settings.ts'
import { isName, type NameKind } from './alternative-names.ts'
import { parseName } from './distinguished-name.ts'

const methods = ['tls_client_auth', 'self_signed_tls_client_auth'] as const

const isHttpsUrl = (text: string): boolean => parseUrl(text)?.protocol === 'https:'

export const settingsSchema = configurationObject({
  /** The methods of client authentication. Default: both. */
  methods: v.optional(
    v.pipe(
      v.array(v.picklist(methods, `must be ${methods.join(' or ')}`), 'must be an array of methods'),
      v.readonly(),
    ),
    [...methods],
  ),
  /** How the keys at `jwksUri` of clients are fetched. */
  jwksUri: v.optional(jwksUriSettingsSchema, {}),
  /**
   * The URLs of endpoints on a host that requests certificates, by their names in the discovery document, such as
   * `token_endpoint`. Without it, clients use the same URLs with a certificate and without one (RFC 8705 section 5).
   */
  endpointAliases: v.optional(
    v.record(
      v.pipe(
        v.string(),
        v.regex(
          /^(?!authorization_)[a-z_]+_endpoint$/u,
          'must be the name of an endpoint that clients call, such as token_endpoint',
        ),
      ),
      v.pipe(v.string('must be a URL'), v.check(isHttpsUrl, 'must be a URL with https')),
      'must be an object',
    ),
  ),
})

export type MtlsOptions = v.InferInput<typeof settingsSchema>
export type Settings = v.InferOutput<typeof settingsSchema>

const nameEntry = (kind: NameKind, message: string) =>
  v.optional(
    v.pipe(
      v.string(message),
      v.check((text) => isName(kind, text), message),
    ),
  )

/** The members of a client that say which certificate is its own. */
export const subjectEntries = {
  tlsClientAuthSubjectDn: v.optional(
    v.pipe(
      v.string('must be a distinguished name'),
      v.check(
        (text) => parseName(text) !== undefined,
        'must be a distinguished name such as CN=client,O=Example (RFC 4514), with the OID of an attribute that has no common name',
      ),
    ),
  ),
  tlsClientAuthSanDns: nameEntry('dns', 'must be a DNS name'),
  tlsClientAuthSanUri: nameEntry('uri', 'must be a URI'),
  tlsClientAuthSanIp: nameEntry('ip', 'must be an IP address'),
  tlsClientAuthSanEmail: nameEntry('email', 'must be an email address'),
}
