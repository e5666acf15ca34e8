import { configurationObject, type MembersOf, member, type OptionsOf, parseUrl } from '@grantry/core'
import * as v from 'valibot'
import { jwksUriSettingsSchema } from '../shared/jwks-settings.ts'
import { isName, type NameKind } from './alternative-names.ts'
import { parseName } from './distinguished-name.ts'

const methods = ['tls_client_auth', 'self_signed_tls_client_auth'] as const

const isHttpsUrl = (text: string): boolean => parseUrl(text)?.protocol === 'https:'

export const settingsSchema = configurationObject({
  /** The methods of client authentication; the list can be empty. */
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
   * `{ token_endpoint: 'https://mtls.example.com/connect/token' }`. Without it, clients use the same URLs with a certificate
   * and without one (RFC 8705 section 5).
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

export type MtlsOptions = OptionsOf<typeof settingsSchema>
export type Settings = v.InferOutput<typeof settingsSchema>

const nameEntry = (kind: NameKind, message: string) =>
  v.optional(
    v.pipe(
      v.string(message),
      v.check((text) => isName(kind, text), message),
    ),
  )

/** The members of a client for its certificate. */
export const certificateMembers = {
  /** The subject of the client's certificate, as in RFC 4514: `CN=client,O=Example`. */
  tlsClientAuthSubjectDn: member(
    v.optional(
      v.pipe(
        v.string('must be a distinguished name'),
        v.check(
          (text) => parseName(text) !== undefined,
          'must be a distinguished name such as CN=client,O=Example (RFC 4514), with the OID of an attribute that has no common name',
        ),
      ),
    ),
    {
      title: 'Subject of its certificate',
      text: 'The subject of the certificate that it authenticates with.',
      group: 'keys',
    },
  ),
  /** A DNS name in the subject alternative names of the client's certificate. */
  tlsClientAuthSanDns: member(nameEntry('dns', 'must be a DNS name'), {
    title: 'DNS name of its certificate',
    text: 'A name in the certificate that it authenticates with.',
    group: 'keys',
  }),
  /** A URI in the subject alternative names of the client's certificate. */
  tlsClientAuthSanUri: member(nameEntry('uri', 'must be a URI'), {
    title: 'URI of its certificate',
    text: 'A URI in the certificate that it authenticates with.',
    group: 'keys',
  }),
  /** An IP address in the subject alternative names of the client's certificate. */
  tlsClientAuthSanIp: member(nameEntry('ip', 'must be an IP address'), {
    title: 'IP address of its certificate',
    text: 'An address in the certificate that it authenticates with.',
    group: 'keys',
  }),
  /** An email address in the subject alternative names of the client's certificate. */
  tlsClientAuthSanEmail: member(nameEntry('email', 'must be an email address'), {
    title: 'Mail address of its certificate',
    text: 'A mail address in the certificate that it authenticates with.',
    group: 'keys',
  }),
  /** Whether the client's tokens are bound to its certificate (RFC 8705 section 3.4). Default: `false`. */
  tlsClientCertificateBoundAccessTokens: member(v.optional(v.boolean('must be true or false'), false), {
    title: 'Bind tokens to its certificate',
    text: 'Its tokens are useless to a thief without the certificate (mutual TLS).',
    group: 'security',
  }),
}

export type CertificateMembers = MembersOf<typeof certificateMembers>
