import { isJsonObject } from '@grantry/core'
import type { Members } from '../differences.ts'
import {
  finished,
  secretsOf as hashesOf,
  idProblem,
  knownAlgorithm,
  knownGrants,
  knownOrigins,
  knownUris,
} from './client-draft.ts'
import type { Consequence, Finding } from './imported.ts'
import { createReader, type Known, knownOfMetadata, type Reader } from './reader.ts'

/** Names of Auth0 for grant types that others have standard names for. */
const grantNames: ReadonlyMap<string, string> = new Map([
  ['http://auth0.com/oauth/grant-type/password-realm', 'password'],
])

const methods: readonly string[] = ['client_secret_post', 'client_secret_basic', 'private_key_jwt']

const consequences: ReadonlyMap<string, readonly [Consequence, string?]> = new Map([
  ['client_authentication_methods', ['sign-in']],
  ['addons', ['sign-in']],
  ['client_metadata', ['unknown']],
  ['organization_usage', ['sign-in']],
  ['mobile', ['cosmetic']],
  ['native_social_login', ['cosmetic']],
])
const known: Known = (member) => consequences.get(member) ?? knownOfMetadata(member)

const nested = (reader: Reader, name: string, entry: string, findings: Finding[]): Reader => {
  const value = reader.take(name)
  return createReader(isJsonObject(value) ? value : {}, { entry, findings, path: `${name}.` })
}

function refreshToken({ text, number, ignore, end, changed }: Reader): Members {
  const rotation = text('rotation_type')
  const leeway = number('leeway')
  const absolute = number('token_lifetime')
  const idle = number('idle_token_lifetime')
  const expiration = text('expiration_type')
  if (expiration === 'non-expiring')
    changed('expiration_type', 'refresh tokens expire now, after the default lifetimes', 'token')
  ignore(['infinite_token_lifetime', 'infinite_idle_token_lifetime'], false, true)
  end()
  const isExpiring = expiration !== 'non-expiring'
  return {
    ...(rotation === 'non-rotating' && { usage: 'reuse' }),
    ...(leeway !== undefined && leeway > 0 && { retryWindow: Math.min(leeway, 300) }),
    ...(isExpiring && absolute && { absoluteLifetime: absolute }),
    ...(isExpiring && idle && { slidingLifetime: idle }),
  }
}

function secretsOf(reader: Reader, isPublic: boolean): Members {
  const secret = reader.text('client_secret')
  if (isPublic) return {}
  if (secret !== undefined) {
    const secrets = hashesOf(secret, 'client_secret', reader)
    return secrets.length > 0 ? { secrets } : {}
  }
  reader.note('client_secret', 'is not in the export; the client gets a new secret', 'sign-in')
  return {}
}

export function auth0Client(
  exported: Members,
  granted: ReadonlyMap<string, readonly string[]>,
  findings: Finding[],
): readonly Members[] {
  const name = String(exported.name ?? '')
  const clientId = String(exported.client_id ?? '')
  const entry = `client ${clientId === '' ? name : clientId}`
  const reader = createReader(exported, { entry, findings, known })
  const problem = clientId === '' ? 'it has no client_id: export with --export_ids' : (idProblem(clientId) ?? undefined)
  if (problem !== undefined) {
    reader.note(undefined, `was left out: ${problem}`, 'sign-in')
    return []
  }
  const method = reader.text('token_endpoint_auth_method')
  const type = reader.text('app_type')
  const isPublic = method === 'none' || (method === undefined && (type === 'spa' || type === 'native'))
  const names = reader.texts('grant_types').map((grant) => grantNames.get(grant) ?? grant)
  const grants = knownGrants(names, 'grant_types', reader)
  const jwt = nested(reader, 'jwt_configuration', entry, findings)
  const refresh = refreshToken(nested(reader, 'refresh_token', entry, findings))
  const logout = nested(reader, 'oidc_logout', entry, findings)
  const [logoutUri, ...more] = logout.texts('backchannel_logout_urls')
  if (more.length > 0) logout.note('backchannel_logout_urls', 'only the first was taken over', 'sign-in')
  const isForUsers = grants.some((grant) => grant !== 'client_credentials')
  const apis = granted.get(clientId) ?? granted.get(name) ?? []
  const scopes = [
    ...(isForUsers ? ['openid', 'profile', 'email'] : []),
    ...(grants.includes('refresh_token') ? ['offline_access'] : []),
    ...apis,
  ]
  const client: Members = {
    clientId,
    public: isPublic || undefined,
    ...(method !== undefined &&
      !isPublic && { tokenEndpointAuthMethod: methods.includes(method) ? method : undefined }),
    ...secretsOf(reader, isPublic),
    grantTypes: grants,
    scopes: [...new Set(scopes)],
    redirectUris: knownUris(reader.texts('callbacks'), 'callbacks', reader),
    postLogoutRedirectUris: knownUris(reader.texts('allowed_logout_urls'), 'allowed_logout_urls', reader),
    allowedCorsOrigins: knownOrigins(
      [...reader.texts('web_origins'), ...reader.texts('allowed_origins')],
      'web_origins',
      reader,
    ),
    ...(grants.includes('refresh_token') && Object.keys(refresh).length > 0 && { refreshToken: refresh }),
    identityTokenLifetime: jwt.number('lifetime_in_seconds'),
    identityTokenAlgorithm: knownAlgorithm(jwt.text('alg'), 'jwt_configuration.alg', reader),
    clientName: name === '' ? undefined : name,
    logoUri: reader.text('logo_uri'),
    initiateLoginUri: reader.text('initiate_login_uri'),
    requireConsent: reader.flag('is_first_party') === true && isForUsers ? false : undefined,
    backchannelLogoutUri: logoutUri,
    requirePushedAuthorizationRequests: reader.flag('require_pushed_authorization_requests', true) || undefined,
    dpopBoundAccessTokens: reader.flag('require_proof_of_possession', true) || undefined,
  }
  jwt.ignore(['secret_encoded'], false, true)
  jwt.end()
  logout.end()
  reader.ignore(['client_id', 'name', 'description', 'tenant', 'callback_url_template', 'sso', 'signing_keys'])
  reader.ignore(
    [
      'oidc_conformant',
      'sso_disabled',
      'cross_origin_authentication',
      'cross_origin_auth',
      'custom_login_page_on',
      'global',
    ],
    false,
    true,
  )
  const result = finished(client, reader)
  reader.end()
  return [result]
}
