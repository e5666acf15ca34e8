import type { Json } from '../types.ts'

/** What a name in the metadata of a client means to this provider. */
export interface MetadataName {
  /** The member of a client of the same meaning and form. The core or a plugin that a provider may not have defines it. */
  readonly member?: string | undefined
  /** The form of the value, where an import reads the member as it is. */
  readonly form?: 'text' | 'flag' | undefined
  /**
   * Whether a value demands something for the protection of users or tokens. A provider that cannot keep it refuses the
   * client, which would have less than it asks for. Absent: the value is left out.
   */
  readonly isDemand?: ((value: Json, methods: readonly string[]) => boolean) | undefined
  /** The method of client authentication without which it has no effect. */
  readonly method?: string | undefined
  /** The name that decides about the same thing. Of both, the one of a software statement counts. */
  readonly sameAs?: string | undefined
  /** The member of the discovery document that states what the provider has of it. */
  readonly announced?: string | undefined
  /** What users and APIs notice if it is lost. */
  readonly loss?: 'sign-in' | 'sub' | 'token' | 'cosmetic' | undefined
}

const always = (): boolean => true
const unlessFalse = (value: Json): boolean => value !== false
/** A list of choices is a demand if it contains none that this provider supports. */
const without = (choice: string) => (value: Json) => !(Array.isArray(value) && value.includes(choice))

const shown = (member: string): MetadataName => ({ member, form: 'text', loss: 'cosmetic' })
const handled: MetadataName = {}
const encryption: MetadataName = { isDemand: always, loss: 'token' }
const certificate = (member: string): MetadataName => ({
  member,
  form: 'text',
  isDemand: always,
  method: 'tls_client_auth',
  loss: 'sign-in',
  ...(member !== 'tlsClientAuthSubjectDn' && { sameAs: 'tls_client_auth_subject_dn' }),
})
const choicesOf = (sameAs: string): MetadataName => ({ sameAs })
const requestObjects: MetadataName = { announced: 'request_parameter_supported', loss: 'sign-in' }
const ciba: MetadataName = { announced: 'backchannel_authentication_endpoint', loss: 'sign-in' }

/**
 * The names of metadata (IANA, OAuth Dynamic Client Registration Metadata, and OpenID Connect Relying Party Metadata Choices
 * 1.0), for registrations, documents, software statements, imports and discovery. Names that are not in it are left out. A member
 * for which no specification has a name has none here: another server could mean something else by it.
 */
export const metadataNames: Readonly<Record<string, MetadataName>> = {
  // RFC 7591 section 2. Registrations and documents read them one by one.
  redirect_uris: handled,
  grant_types: handled,
  response_types: handled,
  scope: handled,
  token_endpoint_auth_method: { announced: 'token_endpoint_auth_methods_supported' },
  token_endpoint_auth_methods_supported: choicesOf('token_endpoint_auth_method'),
  jwks: handled,
  jwks_uri: { member: 'jwksUri', form: 'text', sameAs: 'jwks' },
  client_name: shown('clientName'),
  client_uri: shown('clientUri'),
  logo_uri: shown('logoUri'),
  policy_uri: shown('policyUri'),
  tos_uri: shown('tosUri'),
  contacts: { loss: 'cosmetic' },
  software_id: handled,
  software_version: handled,
  application_type: handled,
  post_logout_redirect_uris: handled,
  // RFC 9449 section 5.2, RFC 8705 sections 2.1.2 and 3.4, RFC 9126 section 6, RFC 9101 section 10.5.
  dpop_bound_access_tokens: {
    member: 'dpopBoundAccessTokens',
    form: 'flag',
    isDemand: unlessFalse,
    announced: 'dpop_signing_alg_values_supported',
    loss: 'token',
  },
  tls_client_certificate_bound_access_tokens: {
    member: 'tlsClientCertificateBoundAccessTokens',
    form: 'flag',
    isDemand: unlessFalse,
    announced: 'tls_client_certificate_bound_access_tokens',
    loss: 'token',
  },
  tls_client_auth_subject_dn: certificate('tlsClientAuthSubjectDn'),
  tls_client_auth_san_dns: certificate('tlsClientAuthSanDns'),
  tls_client_auth_san_uri: certificate('tlsClientAuthSanUri'),
  tls_client_auth_san_ip: certificate('tlsClientAuthSanIp'),
  tls_client_auth_san_email: certificate('tlsClientAuthSanEmail'),
  // The client itself chooses between the URLs of the discovery document.
  use_mtls_endpoint_aliases: { announced: 'mtls_endpoint_aliases' },
  require_pushed_authorization_requests: {
    member: 'requirePushedAuthorizationRequests',
    form: 'flag',
    isDemand: unlessFalse,
    announced: 'pushed_authorization_request_endpoint',
    loss: 'sign-in',
  },
  require_signed_request_object: { ...requestObjects, isDemand: unlessFalse },
  // OpenID Connect Dynamic Client Registration 1.0 section 2.
  token_endpoint_auth_signing_alg: {
    member: 'tokenEndpointAuthSigningAlg',
    form: 'text',
    // The algorithm concerns assertions only: a client without them has nothing less.
    isDemand: (_, methods) => methods.some((method) => method.endsWith('_jwt')),
    method: 'private_key_jwt',
    announced: 'token_endpoint_auth_signing_alg_values_supported',
    loss: 'sign-in',
  },
  token_endpoint_auth_signing_alg_values_supported: choicesOf('token_endpoint_auth_signing_alg'),
  id_token_signed_response_alg: {
    member: 'identityTokenAlgorithm',
    isDemand: always,
    announced: 'id_token_signing_alg_values_supported',
    loss: 'token',
  },
  id_token_signing_alg_values_supported: choicesOf('id_token_signed_response_alg'),
  id_token_encrypted_response_alg: encryption,
  id_token_encrypted_response_enc: encryption,
  userinfo_signed_response_alg: {
    isDemand: always,
    announced: 'userinfo_signing_alg_values_supported',
    loss: 'token',
  },
  userinfo_signing_alg_values_supported: choicesOf('userinfo_signed_response_alg'),
  userinfo_encrypted_response_alg: encryption,
  userinfo_encrypted_response_enc: encryption,
  subject_type: { isDemand: (value) => value !== 'public', announced: 'subject_types_supported', loss: 'sub' },
  subject_types_supported: { sameAs: 'subject_type', isDemand: without('public'), loss: 'sub' },
  // The URI says where pairwise subjects are the same, which `subject_type` demands.
  sector_identifier_uri: { loss: 'sub' },
  default_max_age: { member: 'defaultMaxAge', isDemand: always, loss: 'sign-in' },
  // Identity tokens always contain `auth_time`.
  require_auth_time: { loss: 'token' },
  default_acr_values: { loss: 'token' },
  initiate_login_uri: { member: 'initiateLoginUri', form: 'text', loss: 'sign-in' },
  // All request objects are refused, also those with this algorithm.
  request_object_signing_alg: requestObjects,
  request_object_signing_alg_values_supported: choicesOf('request_object_signing_alg'),
  request_object_encryption_alg: requestObjects,
  request_object_encryption_enc: requestObjects,
  request_uris: { announced: 'request_uri_parameter_supported', loss: 'sign-in' },
  // Responses are JWTs only if a request asks for them, which is refused.
  authorization_signed_response_alg: { announced: 'authorization_signing_alg_values_supported', loss: 'sign-in' },
  authorization_signing_alg_values_supported: choicesOf('authorization_signed_response_alg'),
  authorization_encrypted_response_alg: { loss: 'sign-in' },
  authorization_encrypted_response_enc: { loss: 'sign-in' },
  // OpenID Connect Back-Channel Logout 1.0 section 2.2, Front-Channel Logout 1.0 section 2.
  backchannel_logout_uri: {
    member: 'backchannelLogoutUri',
    form: 'text',
    announced: 'backchannel_logout_supported',
    loss: 'sign-in',
  },
  backchannel_logout_session_required: {
    member: 'backchannelLogoutSessionRequired',
    form: 'flag',
    announced: 'backchannel_logout_session_supported',
    loss: 'sign-in',
  },
  frontchannel_logout_uri: { announced: 'frontchannel_logout_supported', loss: 'sign-in' },
  frontchannel_logout_session_required: { announced: 'frontchannel_logout_session_supported' },
  // RFC 9701 section 6: APIs introspect, and no client that describes itself.
  introspection_signed_response_alg: { loss: 'token' },
  introspection_encrypted_response_alg: { loss: 'token' },
  introspection_encrypted_response_enc: { loss: 'token' },
  // RFC 9396 section 10: requests without the types have scopes, and the responses state those only.
  authorization_details_types: { announced: 'authorization_details_types_supported', loss: 'token' },
  // OpenID Connect CIBA 1.0 section 4: without the grant type, which `grant_types` of the response lacks, they have no effect.
  backchannel_token_delivery_mode: ciba,
  backchannel_client_notification_endpoint: ciba,
  backchannel_authentication_request_signing_alg: ciba,
  backchannel_user_code_parameter: ciba,
  // UMA, number verification, federation, credentials: other protocols, which begin with requests that are refused.
  claims_redirect_uris: handled,
  nfv_token_signed_response_alg: handled,
  nfv_token_encrypted_response_alg: handled,
  nfv_token_encrypted_response_enc: handled,
  client_registration_types: handled,
  signed_jwks_uri: handled,
  organization_name: handled,
  organization_uri: handled,
  description: handled,
  keywords: handled,
  information_uri: handled,
  credential_offer_endpoint: handled,
  vp_formats_supported: handled,
  encrypted_response_enc_values_supported: handled,
}

/** Returns what a name of metadata means; `undefined` for another text, also for `constructor`. */
export const metadataName = (name: string): MetadataName | undefined =>
  Object.hasOwn(metadataNames, name) ? metadataNames[name] : undefined
