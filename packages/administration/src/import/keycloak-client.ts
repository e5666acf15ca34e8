import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import { finished, idProblem, knownAlgorithm, knownGrants, knownOrigins, knownUris, secretsOf } from './client-draft.ts'
import { secondsEnd } from './exported-values.ts'
import { type Consequence, objectsIn } from './imported.ts'
import { demandsOf } from './keycloak-flow.ts'
import type { RealmFacts } from './keycloak-realm.ts'
import { isTechnicalScope, noteMapper } from './keycloak-scope.ts'
import { createReader, type Known, knownOfMetadata, type Reader } from './reader.ts'

/** Clients of every realm. */
const ownClients: readonly string[] = [
  'account',
  'account-console',
  'admin-cli',
  'broker',
  'realm-management',
  'security-admin-console',
]

/** A console export has this instead of a secret. */
const masked = '**********'

function grantsOf(reader: Reader, attributes: Reader): readonly string[] {
  const has = (name: string, byDefault: boolean): boolean => reader.flag(name, false) ?? byDefault
  if (has('implicitFlowEnabled', false))
    reader.note('implicitFlowEnabled', 'the implicit grant has no counterpart', 'sign-in')
  const users = [
    ...(has('standardFlowEnabled', true) ? ['authorization_code'] : []),
    ...(has('directAccessGrantsEnabled', false) ? ['password'] : []),
    ...(attributes.flag('oauth2.device.authorization.grant.enabled') === true
      ? ['urn:ietf:params:oauth:grant-type:device_code']
      : []),
  ]
  const exchange = attributes.flag('standard.token.exchange.enabled') === true
  const hasRefresh = attributes.flag('use.refresh.tokens', false) !== false && users.length > 0
  const all = [
    ...users,
    ...(hasRefresh ? ['refresh_token'] : []),
    ...(has('serviceAccountsEnabled', false) ? ['client_credentials'] : []),
    ...(exchange ? ['urn:ietf:params:oauth:grant-type:token-exchange'] : []),
  ]
  return knownGrants(all, 'grants', reader)
}

/** Returns URIs, those of a path with the root URL in front of them. */
function absolute(uris: readonly string[], root: string | undefined): readonly string[] {
  return uris.map((uri) => (uri.startsWith('/') && root !== undefined ? root.replace(/\/$/u, '') + uri : uri))
}

const originsOf = (uris: readonly string[]): readonly string[] =>
  uris.flatMap((uri) => (/^https?:/u.test(uri) ? [new URL(uri).origin] : []))

function urisOf(reader: Reader, attributes: Reader): Members {
  const root = reader.text('rootUrl')
  const redirectUris = knownUris(absolute(reader.texts('redirectUris'), root), 'redirectUris', reader)
  const logout = attributes.text('post.logout.redirect.uris')?.split('##') ?? []
  const origins = reader.texts('webOrigins')
  return {
    redirectUris,
    postLogoutRedirectUris: knownUris(
      logout.flatMap((uri) => (uri === '+' ? redirectUris : uri === '-' ? [] : absolute([uri], root))),
      'post.logout.redirect.uris',
      attributes,
    ),
    allowedCorsOrigins: knownOrigins(
      origins.flatMap((origin) => (origin === '+' ? originsOf(redirectUris) : [origin])),
      'webOrigins',
      reader,
    ),
  }
}

/** How the client authenticates. */
function credentialsOf(reader: Reader, attributes: Reader): Members {
  const secret = reader.text('secret')
  const type = reader.text('clientAuthenticatorType') ?? 'client-secret'
  if (reader.flag('publicClient') === true) return { public: true }
  const jwksUri = attributes.flag('use.jwks.url') === true ? attributes.text('jwks.url') : undefined
  const keys = attributes.flag('use.jwks.string') === true ? attributes.text('jwks.string') : undefined
  if (type === 'client-jwt')
    return {
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwksUri,
      jwks: jwksIn(keys, attributes),
      tokenEndpointAuthSigningAlg: attributes.text('token.endpoint.auth.signing.alg'),
    }
  if (type === 'client-x509')
    return { tokenEndpointAuthMethod: 'tls_client_auth', tlsClientAuthSubjectDn: attributes.text('x509.subjectdn') }
  if (type !== 'client-secret') reader.note('clientAuthenticatorType', `${type} has no counterpart`, 'sign-in')
  if (secret === undefined || secret === masked) {
    reader.note('secret', 'is not in the export; the client gets a new secret', 'sign-in')
    return {}
  }
  const end = secondsEnd(attributes.take('client.secret.expiration.time'))
  const secrets = secretsOf(secret, 'secret', reader, end)
  return secrets.length > 0 ? { secrets } : {}
}

function jwksIn(text: string | undefined, { note }: Reader): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    note('jwks.string', 'was left out: it is not JSON', 'sign-in')
    return undefined
  }
}

function scopesOf(reader: Reader, grants: readonly string[]): readonly string[] {
  const names = [...reader.texts('defaultClientScopes'), ...reader.texts('optionalClientScopes')]
  const isForUsers = grants.some((grant) => grant !== 'client_credentials')
  const implied = [...(isForUsers ? ['openid'] : []), ...(grants.includes('refresh_token') ? ['offline_access'] : [])]
  return [...new Set([...implied, ...names.filter((name) => !isTechnicalScope(name))])]
}

/**
 * Keycloak returns refresh tokens also without `offline_access`: they end with the session. Those of a client with times of
 * its own have these.
 */
function refreshTokenOf(grants: readonly string[], attributes: Reader, { idle, longest }: RealmFacts): Members {
  const sliding = attributes.number('client.session.idle.timeout') || idle
  const absolute = attributes.number('client.session.max.lifespan') || longest
  if (!grants.includes('refresh_token')) return {}
  const passwordsOnly = grants.filter((grant) => grant === 'password' || grant.endsWith(':device_code'))
  if (passwordsOnly.length > 0) {
    const what = `a request with the grant type ${passwordsOnly.join(' or ')} gets a refresh token only if its scope has offline_access`
    attributes.changed('use.refresh.tokens', what, 'sign-in')
  }
  return {
    refreshToken: {
      ...(grants.includes('authorization_code') && { unasked: 'always' }),
      ...(absolute && { absoluteLifetime: absolute }),
      ...(sliding && { slidingLifetime: sliding }),
    },
  }
}

const consequences: ReadonlyMap<string, readonly [Consequence, string?]> = new Map([
  ['authorizationSettings', ['token']],
  ['frontchannel.logout.url', ['sign-in']],
  ['pkce.code.challenge.method', ['sign-in']],
  ['client.session.idle.timeout', ['token']],
  ['user.info.response.signature.alg', ['token']],
  ['access.token.signed.response.alg', ['token']],
])

const known: Known = (member) => consequences.get(member)
/** Most attributes have the names of metadata, with dots. */
const knownAttributes: Known = (member) =>
  member.startsWith('saml') ? ['cosmetic'] : (consequences.get(member) ?? knownOfMetadata(member.replaceAll('.', '_')))

function ignoreDefaults(reader: Reader, attributes: Reader): void {
  reader.ignore([
    'id',
    'clientId',
    'description',
    'baseUrl',
    'adminUrl',
    'access',
    'protocol',
    'nodeReRegistrationTimeout',
  ])
  reader.ignore(
    ['surrogateAuthRequired', 'alwaysDisplayInConsole', 'bearerOnly', 'authorizationServicesEnabled'],
    false,
  )
  reader.ignore(['frontchannelLogout', 'fullScopeAllowed', 'notBefore'], false, true, 0)
  attributes.ignore(['client.secret.creation.time', 'realm_client', 'display.on.consent.screen', 'login_theme'])
  attributes.ignore(
    ['client_credentials.use_refresh_token', 'use.refresh.tokens', 'backchannel.logout.revoke.offline.tokens'],
    false,
    true,
  )
  attributes.ignore(['oidc.ciba.grant.enabled', 'tls.client.certificate.bound.access.tokens'], false)
}

export function keycloakClient(exported: Members, facts: RealmFacts): readonly Members[] {
  const { realm, lifetime, findings } = facts
  const clientId = String(exported.clientId ?? '')
  const reader = createReader(exported, { entry: `client ${clientId}`, findings, known })
  const protocol = exported.protocol ?? 'openid-connect'
  const isOwn = ownClients.includes(clientId) || clientId === `${realm}-realm`
  const reason =
    idProblem(clientId) ??
    (isOwn ? 'it belongs to Keycloak itself' : undefined) ??
    (protocol === 'openid-connect' ? undefined : `it uses the protocol ${String(protocol)}`) ??
    (exported.bearerOnly === true ? 'it is an API: declare a scope with a secret for it' : undefined)
  if (reason !== undefined) {
    reader.note(undefined, `was left out: ${reason}`, isOwn ? 'cosmetic' : 'sign-in')
    return []
  }
  const exportedAttributes = reader.take('attributes')
  const attributes = createReader(isJsonObject(exportedAttributes) ? exportedAttributes : {}, {
    entry: `client ${clientId}`,
    findings,
    path: 'attributes.',
    known: knownAttributes,
  })
  const { grants, members: demands } = demandsOf(grantsOf(reader, attributes), reader, attributes, facts)
  const credentials = credentialsOf(reader, attributes)
  const consent = reader.flag('consentRequired', true) === true
  const algorithm = attributes.text('id.token.signed.response.alg')
  const client: Members = {
    clientId,
    ...credentials,
    enabled: reader.flag('enabled', false) === false ? false : undefined,
    ...demands,
    grantTypes: grants,
    scopes: scopesOf(reader, grants),
    ...urisOf(reader, attributes),
    ...refreshTokenOf(grants, attributes, facts),
    accessTokenLifetime: attributes.number('access.token.lifespan') ?? lifetime,
    identityTokenAlgorithm: knownAlgorithm(algorithm, 'id.token.signed.response.alg', attributes),
    requirePkce:
      attributes.text('pkce.code.challenge.method') !== undefined && credentials.public !== true ? true : undefined,
    clientName: reader.text('name'),
    logoUri: attributes.text('logoUri'),
    policyUri: attributes.text('policyUri'),
    tosUri: attributes.text('tosUri'),
    requireConsent: !consent && grants.includes('authorization_code') ? false : undefined,
    backchannelLogoutUri: attributes.text('backchannel.logout.url'),
    backchannelLogoutSessionRequired:
      attributes.flag('backchannel.logout.session.required') === true &&
      attributes.text('backchannel.logout.url') !== undefined
        ? true
        : undefined,
    requirePushedAuthorizationRequests: attributes.flag('require.pushed.authorization.requests', true) || undefined,
    dpopBoundAccessTokens: attributes.flag('dpop.bound.access.tokens', true) || undefined,
    tlsClientCertificateBoundAccessTokens:
      attributes.flag('tls.client.certificate.bound.access.tokens', true) || undefined,
  }
  if (attributes.take('client.secret.rotated') !== undefined)
    attributes.note('client.secret.rotated', 'was left out: only the present secret is taken over', 'sign-in')
  for (const mapper of objectsIn(reader.take('protocolMappers'))) noteMapper(mapper, reader)
  ignoreDefaults(reader, attributes)
  const result = finished(client, reader)
  reader.end()
  attributes.end()
  return [result]
}
