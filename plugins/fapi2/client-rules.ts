import type { Client } from '@grantry/core'

/** A requirement of the profile for the configuration of a client. */
export interface ClientRule {
  /** The member that is at fault if the rule is not met. */
  readonly member: string
  /** The clause of the profile. */
  readonly section: string
  /** What the member must be. */
  readonly demand: string
  isMet(client: Client): boolean
}

/** Members that other plugins add. They are absent if the plugin is not installed. */
interface MembersOfPlugins {
  readonly allowPlainPkce?: unknown
  readonly dpopBoundAccessTokens?: unknown
  readonly requirePkce?: unknown
  readonly requirePushedAuthorizationRequests?: unknown
  readonly tlsClientCertificateBoundAccessTokens?: unknown
  readonly tokenEndpointAuthAudience?: unknown
  readonly tokenEndpointAuthSigningAlg?: unknown
}
const membersOf = (client: Client): MembersOfPlugins => client as MembersOfPlugins

const methods: readonly unknown[] = ['private_key_jwt', 'tls_client_auth', 'self_signed_tls_client_auth']
// 5.4.1. `EdDSA` with the curve Ed25519, for which `Ed25519` is the new name.
const algorithms: readonly unknown[] = ['PS256', 'ES256', 'EdDSA', 'Ed25519']
const anyAlgorithm = 'must be "PS256", "ES256", "EdDSA" or "Ed25519"'

/** Seconds. */
export const maxCodeLifetime = 60

// The case of a scheme does not matter (RFC 3986 section 3.1).
const isSecure = (uri: string): boolean => !/^http:/iu.test(uri)

const usesCodes = (client: Client): boolean => client.grantTypes.includes('authorization_code')
const usesAssertions = (client: Client): boolean => client.tokenEndpointAuthMethod === 'private_key_jwt'

/** The rules, in the order in which they are reported. */
export const clientRules: readonly ClientRule[] = [
  {
    member: 'public',
    section: '5.3.2.1, 3',
    demand: 'must be false, because only confidential clients are supported',
    isMet: (client) => !client.public,
  },
  {
    member: 'tokenEndpointAuthMethod',
    section: '5.3.2.1, 6',
    demand: 'must be "private_key_jwt", "tls_client_auth" or "self_signed_tls_client_auth"',
    isMet: (client) => methods.includes(client.tokenEndpointAuthMethod),
  },
  {
    member: 'tokenEndpointAuthSigningAlg',
    section: '5.4.1',
    demand: anyAlgorithm,
    isMet: (client) => !usesAssertions(client) || algorithms.includes(membersOf(client).tokenEndpointAuthSigningAlg),
  },
  {
    member: 'tokenEndpointAuthAudience',
    section: '5.3.2.1, 8',
    demand: 'must be "issuer"',
    isMet: (client) => !usesAssertions(client) || membersOf(client).tokenEndpointAuthAudience === 'issuer',
  },
  {
    member: 'dpopBoundAccessTokens',
    section: '5.3.2.1, 4',
    demand: 'must be true, or tlsClientCertificateBoundAccessTokens',
    isMet: (client) =>
      membersOf(client).dpopBoundAccessTokens === true ||
      membersOf(client).tlsClientCertificateBoundAccessTokens === true,
  },
  {
    member: 'grantTypes',
    section: '5.3.2.1, 2',
    demand: 'must not contain password',
    isMet: (client) => !client.grantTypes.includes('password'),
  },
  {
    member: 'redirectUris',
    section: '5.3.2.2, 8',
    demand: 'must not contain a URI with the scheme http',
    isMet: (client) => client.redirectUris.every(isSecure),
  },
  {
    member: 'requirePushedAuthorizationRequests',
    section: '5.3.2.2, 3',
    demand: 'must be true',
    isMet: (client) => !usesCodes(client) || membersOf(client).requirePushedAuthorizationRequests === true,
  },
  {
    member: 'requirePkce',
    section: '5.3.2.2, 5',
    demand: 'must be true',
    isMet: (client) => !usesCodes(client) || membersOf(client).requirePkce === true,
  },
  {
    member: 'allowPlainPkce',
    section: '5.3.2.2, 5',
    demand: 'must be false, because PKCE must use S256',
    isMet: (client) => membersOf(client).allowPlainPkce !== true,
  },
  {
    member: 'authorizationCodeLifetime',
    section: '5.3.2.1, 11',
    demand: `must be at most ${maxCodeLifetime} seconds`,
    isMet: (client) => client.authorizationCodeLifetime <= maxCodeLifetime,
  },
  {
    member: 'refreshToken.usage',
    section: '5.3.2.1, 9',
    demand: 'must be "reuse", because refresh tokens must not be rotated',
    isMet: (client) => !client.grantTypes.includes('refresh_token') || client.refreshToken.usage === 'reuse',
  },
  {
    member: 'identityTokenAlgorithm',
    section: '5.4.1',
    demand: anyAlgorithm,
    isMet: (client) => !client.scopes.includes('openid') || algorithms.includes(client.identityTokenAlgorithm),
  },
]
