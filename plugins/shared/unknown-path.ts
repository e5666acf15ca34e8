import type { EndpointKit, EndpointRequest, OAuthError } from '@grantry/core'

export const homeOf = ({ issuer }: Pick<EndpointKit, 'issuer'>): string => new URL('/', issuer).href

const unknownReasons: ReadonlySet<string> = new Set(['endpoint_unknown', 'method_not_allowed', 'tenant_unavailable'])

/**
 * Whether a refusal is for an unknown path, a wrong method or a tenant that cannot be opened. A `client_id` in the
 * query of such a request names no client of this issuer.
 */
export const isUnknownPath = ({ details }: OAuthError): boolean => unknownReasons.has(details.reason)

/** Returns the view of the page for such a refusal. It contains nothing of the URL. */
export const unknownPathView = (
  { code, details: { reason } }: OAuthError,
  { url, requestId }: EndpointRequest,
  kit: Pick<EndpointKit, 'issuer' | 'endpointUrl'>,
) => ({ code, reason, requestId, home: new URL(url).pathname === '/' ? kit.endpointUrl('account') : homeOf(kit) })
