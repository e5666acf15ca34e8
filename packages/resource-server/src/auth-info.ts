import type { Resource } from './resource.ts'
import type { Claims } from './token-claims.ts'

/** A valid access token as the official MCP SDKs represent it, in `req.auth` and `authInfo`. */
export interface AuthInfo {
  token: string
  /** `client_id`, or `azp` of issuers that do not follow RFC 9068. Empty if the token names no client. */
  clientId: string
  scopes: string[]
  /** Epoch seconds. */
  expiresAt?: number
  /** The identifier of this resource. */
  resource?: URL
  /** The URL to which the SDKs send clients whose token lacks a scope for an operation. */
  resourceMetadataUrl?: string
  /** All claims, such as `sub` and `act`. */
  extra: Record<string, unknown>
}

interface ValidToken {
  readonly claims: Claims
  readonly scopes: readonly string[]
}

/** Returns a valid token in the form of the MCP SDKs. */
export function authInfoOf(token: string, { claims, scopes }: ValidToken, resource: Resource | undefined): AuthInfo {
  const clientId = claims.client_id ?? claims.azp
  return {
    token,
    clientId: typeof clientId === 'string' ? clientId : '',
    scopes: [...scopes],
    ...(claims.exp !== undefined && { expiresAt: claims.exp }),
    ...(resource !== undefined && {
      resource: new URL(resource.identifier),
      resourceMetadataUrl: resource.metadataUrl,
    }),
    extra: { ...claims },
  }
}
