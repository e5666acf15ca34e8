import type { Members } from '../differences.ts'
import { finished, knownAlgorithm, knownGrants, knownOrigins, knownUris } from './client-draft.ts'
import { hashesIn, keysIn } from './identityserver-secrets.ts'
import type { Consequence } from './imported.ts'
import type { Known, Reader } from './reader.ts'

/** Grant types by the number and the name of `Flow` of IdentityServer 3. */
const flows: readonly (readonly [name: string, grants: readonly string[]])[] = [
  ['authorizationcode', ['authorization_code']],
  ['implicit', ['implicit']],
  ['hybrid', ['hybrid']],
  ['clientcredentials', ['client_credentials']],
  ['resourceowner', ['password']],
  ['custom', []],
  ['authorizationcodewithproofkey', ['authorization_code']],
  ['hybridwithproofkey', ['hybrid']],
]

interface Granted {
  readonly grants: readonly string[]
  /** Whether the grant demands a proof key. Only version 3 has this in the grant. */
  readonly hasProofKey: boolean
}

function grantsOf(reader: Reader): Granted {
  const flow = reader.take('Flow')
  const allowed = reader.texts('AllowedGrantTypes')
  const custom = reader.texts('AllowedCustomGrantTypes')
  const [nameOfFlow = '', ofFlow = []] =
    flows.find(([name], index) => index === flow || name === String(flow).toLowerCase()) ?? []
  const all = [...allowed, ...ofFlow, ...custom]
  if (reader.flag('AllowClientCredentialsOnly') === true) all.push('client_credentials')
  // Hybrid clients get the code, too, and can use it alone.
  if (all.includes('hybrid'))
    reader.changed('AllowedGrantTypes', 'hybrid became authorization_code: the response type is code only', 'sign-in')
  const codes = all.map((grant) => (grant === 'hybrid' ? 'authorization_code' : grant))
  const grants = knownGrants(codes, allowed.length > 0 ? 'AllowedGrantTypes' : 'Flow', reader)
  return { grants, hasProofKey: nameOfFlow.endsWith('withproofkey') }
}

/** Reads a value of an enumeration, which is its number or its name. */
const isValue = (value: unknown, index: number, name: string): boolean =>
  value === index || String(value).toLowerCase() === name.toLowerCase()

function refreshToken(reader: Reader): Members {
  const usage = reader.take('RefreshTokenUsage')
  const expiration = reader.take('RefreshTokenExpiration')
  const absolute = reader.number('AbsoluteRefreshTokenLifetime')
  const sliding = reader.number('SlidingRefreshTokenLifetime')
  const isSliding = isValue(expiration, 0, 'Sliding')
  if (isSliding && absolute === 0)
    reader.changed('AbsoluteRefreshTokenLifetime', 'refresh tokens expire now, after the default lifetimes', 'token')
  return {
    ...(isValue(usage, 0, 'ReUse') && { usage: 'reuse' }),
    ...(absolute && { absoluteLifetime: absolute }),
    // Without sliding, a refresh token ends at the absolute end only.
    ...(isSliding
      ? sliding && { slidingLifetime: sliding }
      : absolute && expiration !== undefined && { slidingLifetime: absolute }),
  }
}

/** Members that have no meaning here, or whose default has the same one. */
function ignoreDefaults(reader: Reader): void {
  reader.ignore(['ClientId', 'Id', 'Created', 'Updated', 'LastAccessed', 'NonEditable', 'Description', 'IncludeJwtId'])
  reader.ignore(['ProtocolType'], 'oidc')
  reader.ignore(
    ['AllowRememberConsent', 'EnableLocalLogin', 'PrefixClientClaims', 'FrontChannelLogoutSessionRequired'],
    true,
  )
  reader.ignore(
    [
      'AllowAccessTokensViaBrowser',
      'RequireRequestObject',
      'UpdateAccessTokenClaimsOnRefresh',
      'AlwaysSendClientClaims',
      'AllowAccessToAllScopes',
      'LogoutSessionRequired',
      'CoordinateLifetimeWithUserSession',
    ],
    false,
  )
  reader.ignore(['ClientClaimsPrefix'], 'client_')
  reader.ignore(['DeviceCodeLifetime', 'CibaLifetime'], 300)
  reader.ignore(['DPoPValidationMode'], 0, 1)
  reader.ignore(['DPoPClockSkew'], '00:05:00', '00:00:00')
}

/** `old`: version 3, and 4 before 4.0, which demand PKCE for no client by default, and consent for each. */
export type Version = 'old' | 'new'

/** Members that only clients of version 3 have. */
const thirdMembers: readonly string[] = [
  'flow',
  'allowaccesstoallscopes',
  'allowclientcredentialsonly',
  'allowedcustomgranttypes',
]

/** Whether it is a client of version 3. */
export const isOfThird = (client: Members): boolean =>
  Object.keys(client).some((name) => thirdMembers.includes(name.toLowerCase()))

/** The consequences of members without a counterpart. */
export const knownOfClients: Known = (member) => consequencesOfClients.get(member.toLowerCase())
const consequencesOfClients: ReadonlyMap<string, readonly [Consequence, string?]> = new Map([
  ['pairwisesubjectsalt', ['sub']],
  ['frontchannellogouturi', ['sign-in']],
  ['logouturi', ['sign-in']],
  ['allowaccesstoallscopes', ['sign-in', 'has no counterpart: list the scopes of the client']],
  ['claims', ['token']],
  ['properties', ['cosmetic']],
  ['alwayssendclientclaims', ['token']],
  ['clientclaimsprefix', ['token']],
  ['consentlifetime', ['cosmetic']],
  ['userssolifetime', ['unknown']],
  ['usercodetype', ['cosmetic']],
])

export function identityServerClient(clientId: string, reader: Reader, version: Version): Members {
  const { text, flag, number, texts } = reader
  const isPublic = flag('RequireClientSecret') === false
  const clientSecrets = reader.take('ClientSecrets')
  const secrets = hashesIn(clientSecrets, 'ClientSecrets', reader)
  const keys = keysIn(clientSecrets, 'ClientSecrets', reader)
  if (isPublic && secrets.length > 0) reader.note('ClientSecrets', 'were left out: the client is public', 'cosmetic')
  const offline = flag('AllowOfflineAccess') === true
  const scopes = [...texts('AllowedScopes'), ...(offline ? ['offline_access'] : [])]
  const { grants, hasProofKey } = grantsOf(reader)
  // Without the list, a client could use each provider.
  const restrictions = reader.texts('IdentityProviderRestrictions', 'the client is disabled')
  const algorithms = texts('AllowedIdentityTokenSigningAlgorithms')
  const tokenType = reader.take('AccessTokenType')
  const refresh = refreshToken(reader)
  const hasRefresh = offline || scopes.includes('offline_access')
  const needsPkce = flag('RequirePkce', true) ?? (hasProofKey || version === 'new')
  // The default of each version, of which a client without a page has no use.
  const isForUsers = grants.includes('authorization_code')
  const asksForConsent = flag('RequireConsent', true) ?? !(version === 'new' && isForUsers)
  if (needsPkce && !hasProofKey && isForUsers && !isPublic && reader.take('RequirePkce') === undefined) {
    const what =
      'is not in the export, and became true, the default of version 4: remove requirePkce of a client without PKCE'
    reader.changed('RequirePkce', what, 'sign-in')
  }
  ignoreDefaults(reader)
  const client: Members = {
    clientId,
    public: isPublic || undefined,
    enabled: flag('Enabled', false) === false || restrictions === undefined ? false : undefined,
    ...(!isPublic && (secrets.length > 0 || keys.length > 0) && { secrets }),
    ...(keys.length > 0 && { jwks: { keys } }),
    grantTypes: [...grants, ...(hasRefresh ? ['refresh_token'] : [])],
    scopes: [...new Set(scopes)],
    redirectUris: knownUris(texts('RedirectUris'), 'RedirectUris', reader),
    postLogoutRedirectUris: knownUris(texts('PostLogoutRedirectUris'), 'PostLogoutRedirectUris', reader),
    allowedCorsOrigins: knownOrigins(texts('AllowedCorsOrigins'), 'AllowedCorsOrigins', reader),
    identityProviders: restrictions,
    accessTokenFormat: isValue(tokenType, 1, 'Reference') ? 'reference' : undefined,
    accessTokenLifetime: number('AccessTokenLifetime'),
    identityTokenLifetime: number('IdentityTokenLifetime'),
    identityTokenAlgorithm: knownAlgorithm(algorithms[0], 'AllowedIdentityTokenSigningAlgorithms', reader),
    authorizationCodeLifetime: number('AuthorizationCodeLifetime'),
    userClaimsInIdentityToken: flag('AlwaysIncludeUserClaimsInIdToken') || undefined,
    ...(hasRefresh && Object.keys(refresh).length > 0 && { refreshToken: refresh }),
    // For a public client, it is always required.
    requirePkce: (!isPublic && grants.includes('authorization_code') && needsPkce) || undefined,
    allowPlainPkce: flag('AllowPlainTextPkce') || undefined,
    clientName: text('ClientName'),
    clientUri: text('ClientUri'),
    logoUri: text('LogoUri'),
    initiateLoginUri: text('InitiateLoginUri'),
    requireConsent: asksForConsent ? undefined : false,
    backchannelLogoutUri: text('BackChannelLogoutUri'),
    backchannelLogoutSessionRequired:
      flag('BackChannelLogoutSessionRequired') && text('BackChannelLogoutUri') !== undefined ? true : undefined,
    requirePushedAuthorizationRequests: flag('RequirePushedAuthorization', true) || undefined,
    dpopBoundAccessTokens: flag('RequireDPoP', true) || undefined,
  }
  const result = finished(client, reader)
  reader.end()
  return result
}
