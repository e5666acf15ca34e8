// The names of metadata that clients can have (IANA, OAuth Dynamic Client Registration Metadata; OpenID Connect Relying Party
// Metadata Choices 1.0), with what a provider does with them, and why.
import type { Json, JsonObject } from '@grantry/core'

export type Outcome = 'kept' | 'refused' | 'ignored'

export interface Row {
  readonly name: string
  readonly value: Json
  /** With all plugins, and with none. */
  readonly registered: readonly [Outcome, Outcome]
  /** As `registered`, if it is absent. */
  readonly document?: readonly [Outcome, Outcome]
  /** What an import of a client with it does: `lost` is a line in the report. */
  readonly imported: 'carried' | 'lost' | 'ignored'
  /** What the client has besides. */
  readonly more?: JsonObject
  readonly why: string
}

type Rest = Pick<Row, 'document' | 'more'>

const row = (
  [name, value]: readonly [string, Json],
  outcomes: Outcome | readonly [Outcome, Outcome],
  imported: Row['imported'],
  why: string,
  rest: Rest = {},
): Row => ({
  name,
  value,
  registered: typeof outcomes === 'string' ? [outcomes, outcomes] : outcomes,
  imported,
  why,
  ...rest,
})

const kept: Outcome = 'kept'
const refused: Outcome = 'refused'
const ignored: Outcome = 'ignored'
const byPlugin = [kept, refused] as const
const app = 'https://app.example.com'

/** A public key, of no one. */
export const jwks = {
  keys: [
    {
      kty: 'EC',
      crv: 'P-256',
      x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
      y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
    },
  ],
}
const signing = { more: { token_endpoint_auth_method: 'private_key_jwt', jwks } }
/** A document cannot name a certificate. */
const certified = {
  more: { token_endpoint_auth_method: 'tls_client_auth' },
  document: [refused, refused],
} as const

const certificateNames = [
  ['tls_client_auth_subject_dn', 'CN=app,O=Example'],
  ['tls_client_auth_san_dns', 'app.example.com'],
  ['tls_client_auth_san_uri', 'spiffe://example.com/app'],
  ['tls_client_auth_san_ip', '192.0.2.7'],
  ['tls_client_auth_san_email', 'app@example.com'],
] as const

const describes = 'It describes the client for pages or people.'
const encrypts = 'Tokens in clear text are less than the client demands.'
const otherProtocol = 'A client of another protocol does not begin one here.'
const noObjects = 'All request objects are refused, so none is accepted that breaks it.'
const noJarm = 'A request for a response as a JWT is refused, so none is returned without it.'
const noApi = 'APIs introspect, and no client that describes itself.'
const noCiba = 'The grant type is left out, which the response states.'
const choices = 'The one of both names that clients use decides; a list allows what the provider has.'

export const rows: readonly Row[] = [
  row(['redirect_uris', [`${app}/callback`, `${app}/other`]], kept, 'carried', 'The registration is about them.', {
    document: [ignored, ignored],
  }),
  row(['grant_types', ['authorization_code']], kept, 'carried', 'Those that the operator allows.', {
    document: [ignored, ignored],
  }),
  row(['response_types', ['code']], kept, 'ignored', 'There is one.', { document: [ignored, ignored] }),
  row(['scope', 'api1'], ignored, 'carried', 'What a client registers limits no scope (decision 153).'),
  row(['token_endpoint_auth_method', 'none'], kept, 'carried', 'How it authenticates.', {
    document: [ignored, ignored],
  }),
  row(['token_endpoint_auth_methods_supported', ['none']], ignored, 'lost', 'There is one method left: it is stated.'),
  row(['jwks', jwks], kept, 'carried', 'The keys of its method.', {
    ...signing,
    document: [ignored, ignored],
  }),
  row(['jwks_uri', `${app}/keys`], kept, 'carried', 'The keys of its method.', {
    more: { token_endpoint_auth_method: 'private_key_jwt' },
    document: [ignored, ignored],
  }),
  row(['client_name', 'App'], kept, 'carried', describes, { document: [ignored, ignored] }),
  row(['client_uri', app], kept, 'carried', describes, { document: [ignored, ignored] }),
  row(['logo_uri', `${app}/logo.png`], kept, 'carried', describes, { document: [ignored, ignored] }),
  row(['policy_uri', `${app}/policy`], kept, 'carried', describes, { document: [ignored, ignored] }),
  row(['tos_uri', `${app}/terms`], kept, 'carried', describes, { document: [ignored, ignored] }),
  row(['contacts', ['a@example.com']], kept, 'carried', describes, { document: [ignored, ignored] }),
  row(['software_id', 'app'], kept, 'lost', describes, { document: [ignored, ignored] }),
  row(['software_version', '1'], kept, 'lost', describes, { document: [ignored, ignored] }),
  row(['application_type', 'web'], kept, 'ignored', 'The redirect URIs decide.', { document: [ignored, ignored] }),
  row(['post_logout_redirect_uris', [`${app}/bye`]], kept, 'carried', 'Where a logout leads.', {
    document: [ignored, ignored],
  }),
  row(['dpop_bound_access_tokens', true], byPlugin, 'carried', 'A bearer token is less.'),
  row(['tls_client_certificate_bound_access_tokens', true], byPlugin, 'carried', 'A bearer token is less.'),
  ...certificateNames.map((named) =>
    row(named, byPlugin, 'carried', 'Only this certificate authenticates the client.', certified),
  ),
  ...certificateNames.map((named) =>
    row(named, refused, 'carried', 'Without the method, no certificate is verified.', {}),
  ),
  row(['use_mtls_endpoint_aliases', true], ignored, 'lost', 'The client itself chooses between the URLs.'),
  row(['require_pushed_authorization_requests', true], byPlugin, 'carried', 'A request in the browser is less.'),
  row(['require_signed_request_object', true], refused, 'lost', 'A request without a signature is less.'),
  row(['token_endpoint_auth_signing_alg', 'ES256'], byPlugin, 'carried', 'No other one authenticates it.', {
    ...signing,
    document: [kept, refused],
  }),
  row(['token_endpoint_auth_signing_alg', 'HS256'], refused, 'carried', 'The provider does not have it.', signing),
  row(['token_endpoint_auth_signing_alg', 'ES256'], ignored, 'carried', 'It is about assertions only.'),
  row(['token_endpoint_auth_signing_alg_values_supported', ['ES256']], ignored, 'lost', choices, signing),
  row(['id_token_signed_response_alg', 'ES256'], kept, 'carried', 'A client rejects another one.'),
  row(['id_token_signed_response_alg', 'PS512'], refused, 'lost', 'The provider has no such key.'),
  row(['id_token_signing_alg_values_supported', ['PS512', 'ES256']], ignored, 'lost', choices),
  row(['id_token_encrypted_response_alg', 'RSA-OAEP'], refused, 'lost', encrypts),
  row(['id_token_encrypted_response_enc', 'A256GCM'], refused, 'lost', encrypts),
  row(['userinfo_signed_response_alg', 'ES256'], refused, 'lost', 'A response without a signature is less.'),
  row(['userinfo_signing_alg_values_supported', ['ES256']], ignored, 'lost', choices),
  row(['userinfo_encrypted_response_alg', 'RSA-OAEP'], refused, 'lost', encrypts),
  row(['userinfo_encrypted_response_enc', 'A256GCM'], refused, 'lost', encrypts),
  row(['subject_type', 'pairwise'], refused, 'lost', 'A public sub lets clients compare users.'),
  row(['subject_type', 'public'], ignored, 'ignored', 'There is no other one.'),
  row(['subject_types_supported', ['pairwise']], refused, 'lost', 'A public sub lets clients compare users.'),
  row(['subject_types_supported', ['pairwise', 'public']], ignored, 'lost', choices),
  row(['sector_identifier_uri', `${app}/sector`], ignored, 'lost', 'subject_type demands what it concerns.'),
  row(['default_max_age', 600], kept, 'carried', 'An older sign-in is less.'),
  row(['require_auth_time', true], kept, 'lost', 'All identity tokens have it.', { document: [ignored, ignored] }),
  row(['default_acr_values', ['silver']], ignored, 'lost', 'A wish: the token states what was reached.'),
  row(['initiate_login_uri', `${app}/login`], kept, 'carried', 'Where a sign-in begins.'),
  row(['request_object_signing_alg', 'ES256'], ignored, 'lost', noObjects),
  row(['request_object_signing_alg_values_supported', ['ES256']], ignored, 'lost', noObjects),
  row(['request_object_encryption_alg', 'RSA-OAEP'], ignored, 'lost', noObjects),
  row(['request_object_encryption_enc', 'A256GCM'], ignored, 'lost', noObjects),
  row(['request_uris', [`${app}/request`]], ignored, 'ignored', noObjects),
  row(['authorization_signed_response_alg', 'ES256'], ignored, 'lost', noJarm),
  row(['authorization_signing_alg_values_supported', ['ES256']], ignored, 'lost', noJarm),
  row(['authorization_encrypted_response_alg', 'RSA-OAEP'], ignored, 'lost', noJarm),
  row(['authorization_encrypted_response_enc', 'A256GCM'], ignored, 'lost', noJarm),
  row(['backchannel_logout_uri', `${app}/out`], [kept, ignored], 'carried', 'Discovery states whether it is called.'),
  row(['backchannel_logout_session_required', true], [kept, ignored], 'carried', 'All logout tokens have a sid.'),
  row(['frontchannel_logout_uri', `${app}/front`], ignored, 'lost', 'Discovery states whether it is called.'),
  row(['frontchannel_logout_session_required', true], ignored, 'ignored', 'It is about the URI.'),
  row(['introspection_signed_response_alg', 'ES256'], ignored, 'lost', noApi),
  row(['introspection_encrypted_response_alg', 'RSA-OAEP'], ignored, 'lost', noApi),
  row(['introspection_encrypted_response_enc', 'A256GCM'], ignored, 'lost', noApi),
  row(['authorization_details_types', ['payment']], ignored, 'lost', 'The token response states what was granted.'),
  row(['backchannel_token_delivery_mode', 'poll'], ignored, 'lost', noCiba),
  row(['backchannel_client_notification_endpoint', `${app}/ping`], ignored, 'lost', noCiba),
  row(['backchannel_authentication_request_signing_alg', 'ES256'], ignored, 'lost', noCiba),
  row(['backchannel_user_code_parameter', true], ignored, 'lost', noCiba),
  row(['claims_redirect_uris', [`${app}/claims`]], ignored, 'lost', otherProtocol),
  row(['nfv_token_signed_response_alg', 'ES256'], ignored, 'lost', otherProtocol),
  row(['nfv_token_encrypted_response_alg', 'RSA-OAEP'], ignored, 'lost', otherProtocol),
  row(['nfv_token_encrypted_response_enc', 'A256GCM'], ignored, 'lost', otherProtocol),
  row(['client_registration_types', ['explicit']], ignored, 'lost', otherProtocol),
  row(['signed_jwks_uri', `${app}/signed`], ignored, 'lost', otherProtocol),
  row(['organization_name', 'Example'], ignored, 'lost', otherProtocol),
  row(['organization_uri', app], ignored, 'lost', otherProtocol),
  row(['description', 'An application'], ignored, 'lost', describes),
  row(['keywords', ['application']], ignored, 'lost', describes),
  row(['information_uri', `${app}/about`], ignored, 'lost', describes),
  row(['credential_offer_endpoint', `${app}/offer`], ignored, 'lost', otherProtocol),
  row(['vp_formats_supported', { jwt_vp: {} }], ignored, 'lost', otherProtocol),
  row(['encrypted_response_enc_values_supported', ['A128GCM']], ignored, 'lost', otherProtocol),
]
