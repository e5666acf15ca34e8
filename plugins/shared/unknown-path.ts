import type { EndpointKit, EndpointRequest, OAuthError } from '@grantry/core'

export const homeOf = ({ issuer }: Pick<EndpointKit, 'issuer'>): string => new URL('/', issuer).href

const unknownReasons: ReadonlySet<string> = new Set(['endpoint_unknown', 'method_not_allowed', 'tenant_unavailable'])

/** Whether there is nothing at an address, or only what cannot serve: a client in the query is not of this issuer. */
export const isUnknownPath = ({ details }: OAuthError): boolean => unknownReasons.has(details.reason)

/** Returns what the page for such a refusal shows: nothing of the URL. */
export const unknownPathView = (
  { code, details: { reason } }: OAuthError,
  { url, requestId }: EndpointRequest,
  kit: Pick<EndpointKit, 'issuer' | 'endpointUrl'>,
) => ({ code, reason, requestId, home: new URL(url).pathname === '/' ? kit.endpointUrl('account') : homeOf(kit) })
