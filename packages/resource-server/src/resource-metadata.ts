import type { RequiredBinding } from './binding.ts'
import { assertMembers, safeUrl, text, texts } from './option-checks.ts'
import type { PresentedRequest } from './presented-request.ts'
import { scopesOf } from './requirement.ts'
import type { Resource } from './resource.ts'

/** Members of the metadata document of a resource that the other options do not determine (RFC 9728 section 2). */
export interface ResourceMetadataOptions {
  /** `authorization_servers`. Default: the option `issuer`; required if that is a pattern. */
  readonly authorizationServers?: string | readonly string[] | undefined
  /** `scopes_supported`: the scopes that clients may request for this resource. Default: none are published. */
  readonly scopes?: string | readonly string[] | undefined
  /** `resource_name`: the name that pages show to users. */
  readonly name?: string | undefined
  /** `resource_documentation`: the URL of a page for developers. */
  readonly documentation?: string | undefined
  /** `resource_policy_uri`: the URL of a page about the use of data. */
  readonly policy?: string | undefined
  /** `resource_tos_uri`: the URL of the terms of service. */
  readonly terms?: string | undefined
}

/** Returns the metadata document, if a request is for it. */
export type ServeResourceMetadata = (request: PresentedRequest) => Response | undefined

interface Properties {
  readonly resource: Resource
  /** `undefined` if there can be many issuers. */
  readonly issuer: string | undefined
  readonly proofAlgorithms: readonly string[] | undefined
  readonly hasCertificates: boolean
  readonly required: RequiredBinding | undefined
}

const optionNames = ['authorizationServers', 'scopes', 'name', 'documentation', 'policy', 'terms']

function serversOf({ authorizationServers }: ResourceMetadataOptions, issuer: string | undefined): readonly string[] {
  if (authorizationServers === undefined && issuer === undefined) {
    throw new TypeError('issuer.pattern requires metadata.authorizationServers')
  }
  return texts(authorizationServers ?? issuer, 'metadata.authorizationServers').map((url) =>
    safeUrl(url, 'metadata.authorizationServers'),
  )
}

const pageOf = (value: string | undefined, what: string): string | undefined =>
  value === undefined ? undefined : safeUrl(value, `metadata.${what}`)

/** Members that are `undefined` are omitted. */
function documentOf(options: ResourceMetadataOptions, properties: Properties): string {
  assertMembers(options, optionNames, 'metadata')
  const { resource, issuer, proofAlgorithms, hasCertificates, required } = properties
  const scopes = scopesOf(options.scopes)
  return JSON.stringify({
    resource: resource.identifier,
    authorization_servers: serversOf(options, issuer),
    scopes_supported: scopes.length > 0 ? scopes : undefined,
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: proofAlgorithms,
    dpop_bound_access_tokens_required: required === 'dpop' || undefined,
    tls_client_certificate_bound_access_tokens: hasCertificates || undefined,
    resource_name: options.name === undefined ? undefined : text(options.name, 'metadata.name'),
    resource_documentation: pageOf(options.documentation, 'documentation'),
    resource_policy_uri: pageOf(options.policy, 'policy'),
    resource_tos_uri: pageOf(options.terms, 'terms'),
  })
}

const anyOrigin = { 'access-control-allow-origin': '*' }
const methods = 'GET, HEAD, OPTIONS'

/** MCP clients in browsers send `MCP-Protocol-Version`, which requires a preflight. No credentials are needed. */
const preflightHeaders = {
  ...anyOrigin,
  'access-control-allow-methods': methods,
  'access-control-allow-headers': '*, Authorization',
  'access-control-max-age': '7200',
}

/**
 * Serves the metadata document, at the path of this resource only: another one on the same host has its own document.
 *
 * @throws TypeError with one sentence for a mistake in the options
 * @see RFC 9728 section 3
 */
export function createResourceMetadata(
  options: ResourceMetadataOptions,
  properties: Properties,
): ServeResourceMetadata {
  const document = documentOf(options, properties)
  const { metadataPath } = properties.resource
  const headers = { ...anyOrigin, 'content-type': 'application/json', 'cache-control': 'public, max-age=300' }
  return ({ method, url }) => {
    if (!URL.canParse(url) || new URL(url).pathname.replace(/\/$/u, '') !== metadataPath) return undefined
    if (method === 'OPTIONS') return new Response(null, { status: 204, headers: preflightHeaders })
    if (method === 'HEAD') return new Response(null, { headers })
    if (method === 'GET') return new Response(document, { headers })
    return new Response(null, { status: 405, headers: { ...anyOrigin, allow: methods } })
  }
}
