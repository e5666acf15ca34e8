import { type ClientOptions, type JsonObject, type Kit, parseUrl } from '@grantry/core'
import { createPolicyOf } from '../shared/host-policy.ts'
import { mistypedProblem } from '../shared/mistyped-metadata.ts'
import {
  type MetadataKit,
  namedMethods,
  ownRedirectProblem,
  requestedMembers,
  selfDescribedMembers,
  stringsIn,
} from '../shared/self-described.ts'
import type { Settings } from './registration-options.ts'

/** Why metadata describes no client. */
export interface MetadataProblem {
  readonly code: 'invalid_redirect_uri' | 'invalid_client_metadata'
  readonly reason: string
  readonly text: string
}

/** The client that metadata describes. */
export interface Described {
  /** Without an id, and without secrets. */
  readonly client: Omit<ClientOptions, 'clientId'>
  /** What was granted, in the names of RFC 7591. It describes the same client again. */
  readonly registered: JsonObject
  readonly needsSecret: boolean
}

const maxRedirectUris = 50
const maxTextLength = 200

const metadataProblem = (reason: string, text: string): MetadataProblem => ({
  code: 'invalid_client_metadata',
  reason,
  text,
})
const redirectProblem = (text: string): MetadataProblem => ({
  code: 'invalid_redirect_uri',
  reason: 'redirect_uri_refused',
  text,
})

const isProblem = (value: object): value is MetadataProblem => 'reason' in value

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= maxTextLength

const defined = (members: Readonly<Record<string, unknown>>): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as JsonObject

const needsSecret = (method: string): boolean => method.startsWith('client_secret')

const certificate = 'tls_client_auth'

/** Authentication methods that the client can use; the first one is that which it prefers. */
type Methods = readonly [string, ...string[]]

/** @see RFC 7591 section 2: `client_secret_basic` is the default */
function methodsOf(metadata: JsonObject, { authenticationMethods: allowed }: Settings): Methods | MetadataProblem {
  const hasKeys = metadata.jwks !== undefined || metadata.jwks_uri !== undefined
  const named = namedMethods(metadata)
  const wanted = named.length > 0 ? named : allowed.includes('client_secret_basic') ? ['client_secret_basic'] : allowed
  const known = wanted.filter((name) => (allowed as readonly string[]).includes(name))
  const [first, ...others] = known.filter((name) => name !== 'private_key_jwt' || hasKeys)
  // A certificate authenticates a client that has no other method.
  if (first === certificate) return [first]
  if (first !== undefined) return [first, ...others.filter((name) => name !== certificate)]
  return known.length > 0
    ? metadataProblem('keys_missing', 'private_key_jwt requires jwks or jwks_uri')
    : metadataProblem('method_refused', `token_endpoint_auth_method must be one of ${allowed.join(', ')}`)
}

function authenticationOf(methods: Methods, { jwks, jwks_uri: jwksUri }: JsonObject) {
  if (needsSecret(methods[0])) return {}
  if (methods[0] === certificate) return { tokenEndpointAuthMethod: certificate }
  const keys = methods.includes('private_key_jwt') ? defined({ jwks, jwksUri }) : {}
  return methods.includes('none') ? { public: true, ...keys } : { tokenEndpointAuthMethod: 'private_key_jwt', ...keys }
}

/** Returns why a redirect URI is refused, with its place in the request. */
function createRedirectCheck({ redirectHosts, otherRedirectHosts, nativeRedirects }: Settings) {
  const policyOf = createPolicyOf(redirectHosts, otherRedirectHosts)
  return (uri: string): string | undefined => {
    const problem = ownRedirectProblem(uri)
    if (problem !== undefined) return problem
    if (!/^https:/iu.test(uri)) return nativeRedirects ? undefined : 'must use https'
    const isAllowed = policyOf(parseUrl(uri)?.hostname ?? '') === 'allow'
    return isAllowed ? undefined : 'has a host that this server does not accept'
  }
}

function textsOf(metadata: JsonObject) {
  const { contacts, software_id: id, software_version: version } = metadata
  const people = stringsIn(contacts).filter(isText).slice(0, 10)
  return {
    contacts: people.length > 0 ? people : undefined,
    software_id: isText(id) ? id : undefined,
    software_version: isText(version) ? version : undefined,
  }
}

/** Whether a member is an array of strings that is not too long, or absent. */
const areUris = (value: unknown): boolean =>
  value === undefined ||
  (Array.isArray(value) && value.length <= maxRedirectUris && value.every((uri) => typeof uri === 'string'))

/**
 * Returns the scopes of the options, limited by the `scope` of a statement or of the stored registration. The limit can
 * leave none.
 */
const scopesOf = ({ scope }: JsonObject, { scopes }: Settings): readonly string[] =>
  typeof scope === 'string' ? scopes.filter((name) => scope.split(' ').includes(name)) : scopes

/** Returns what was granted to a client. */
function registeredMetadata(metadata: JsonObject, client: Described['client'], methods: Methods): JsonObject {
  const { redirectUris = [], postLogoutRedirectUris = [], grantTypes = [], scopes = [] } = client
  const { jwks, jwks_uri: jwksUri, application_type: type } = metadata
  const isNative = redirectUris.some((uri) => !/^https:/iu.test(uri))
  return defined({
    ...textsOf(metadata),
    client_name: client.clientName,
    client_uri: client.clientUri,
    logo_uri: client.logoUri,
    policy_uri: client.policyUri,
    tos_uri: client.tosUri,
    redirect_uris: redirectUris,
    post_logout_redirect_uris: postLogoutRedirectUris.length > 0 ? postLogoutRedirectUris : undefined,
    grant_types: grantTypes,
    response_types: grantTypes.includes('authorization_code') ? ['code'] : [],
    application_type: type === 'web' || type === 'native' ? type : isNative ? 'native' : 'web',
    scope: scopes.join(' '),
    token_endpoint_auth_method: methods[0],
    token_endpoint_auth_methods_supported: methods.length > 1 ? methods : undefined,
    ...(methods.includes('private_key_jwt') && { jwks, jwks_uri: jwksUri }),
  })
}

/** Creates the function that reads metadata. */
export function createDescribe(settings: Settings) {
  const redirectUriProblem = createRedirectCheck(settings)

  function urisOf(metadata: JsonObject, member: string): readonly string[] | MetadataProblem {
    if (!areUris(metadata[member])) {
      return redirectProblem(`${member} must be an array of at most ${maxRedirectUris} URIs`)
    }
    const uris = stringsIn(metadata[member])
    for (const [index, uri] of uris.entries()) {
      const problem = redirectUriProblem(uri)
      if (problem !== undefined) return redirectProblem(`${member}[${index}] ${problem}`)
    }
    return uris
  }

  function grantsOf(metadata: JsonObject, isPublic: boolean): readonly string[] | MetadataProblem {
    const named = stringsIn(metadata.grant_types ?? ['authorization_code'])
    const granted = settings.grantTypes.filter(
      (name) => named.includes(name) && !(isPublic && name === 'client_credentials'),
    )
    return granted.length > 0
      ? granted
      : metadataProblem('grant_types_refused', `grant_types must contain one of ${settings.grantTypes.join(', ')}`)
  }

  /**
   * Returns the client that metadata describes, or why there is none. Leaves out members that the provider does not
   * support.
   */
  return (submitted: JsonObject, kit: MetadataKit & Pick<Kit, 'problemOfClient'>): Described | MetadataProblem => {
    // Some programs send `null` for members that they do not have.
    const metadata = Object.fromEntries(Object.entries(submitted).filter(([, value]) => value !== null)) as JsonObject
    const mistyped = mistypedProblem(metadata)
    if (mistyped !== undefined) return metadataProblem('metadata_malformed', mistyped)
    const redirectUris = urisOf(metadata, 'redirect_uris')
    if (isProblem(redirectUris)) return redirectUris
    const postLogoutRedirectUris = urisOf(metadata, 'post_logout_redirect_uris')
    if (isProblem(postLogoutRedirectUris)) return postLogoutRedirectUris
    const methods = methodsOf(metadata, settings)
    if (isProblem(methods)) return methods
    const authentication = authenticationOf(methods, metadata)
    const grantTypes = grantsOf(metadata, 'public' in authentication)
    if (isProblem(grantTypes)) return grantTypes
    const hasCodes = grantTypes.includes('authorization_code')
    if (hasCodes && redirectUris.length === 0) return redirectProblem('redirect_uris must have at least one URI')
    if (metadata.jwks !== undefined && metadata.jwks_uri !== undefined) {
      return metadataProblem('keys_twice', 'jwks and jwks_uri exclude each other')
    }
    const requested = requestedMembers(metadata, methods, kit)
    if ('reason' in requested) return metadataProblem(requested.reason, requested.text)
    const hasCertificate = Object.keys(requested.granted).some((name) => name.startsWith(`${certificate}_`))
    if (methods[0] === certificate && !hasCertificate) {
      return metadataProblem(
        'certificate_missing',
        `${certificate} requires ${certificate}_subject_dn, or a name like it`,
      )
    }
    const client = {
      ...requested.members,
      ...authentication,
      grantTypes: [...grantTypes],
      scopes: [...scopesOf(metadata, settings)],
      postLogoutRedirectUris: [...postLogoutRedirectUris],
      ...selfDescribedMembers(metadata, redirectUris, {
        refreshToken: settings.refreshToken,
        selfDescribed: settings.consent,
      }),
    } as Described['client']
    // Checks the client as one of the configuration.
    const problem = kit.problemOfClient({ ...client, clientId: 'registered' })
    if (problem !== undefined) return metadataProblem('metadata_malformed', problem)
    const registered = { ...registeredMetadata(metadata, client, methods), ...requested.granted }
    return { client, registered, needsSecret: needsSecret(methods[0]) }
  }
}

export type Describe = ReturnType<typeof createDescribe>
