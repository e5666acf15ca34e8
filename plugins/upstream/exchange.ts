import { type EndpointKit, parseExactJson } from '@grantry/core'
import type { Configuration, TokenEndpointResponse } from 'openid-client'
import { failed, isFailure, reasonOf, type UpstreamFailure } from './failure.ts'
import type { Library } from './library.ts'
import type { UpstreamClaims } from './provider.ts'
import type { StoredState } from './state.ts'
import { upstreamClaims } from './upstream-claims.ts'
import type { Connection } from './upstream-connection.ts'
import type { UpstreamTokens } from './verify.ts'

/** The response that a provider has sent to its callback URL. */
export interface UpstreamResponse {
  readonly params: Readonly<Record<string, string>>
  /** The callback URL of the provider, without a query. */
  readonly callback: string
}

interface Exchange {
  readonly connection: Connection
  readonly tokens: UpstreamTokens
  readonly library: Library
  readonly client: Configuration
  readonly kit: EndpointKit
}

/** Reads the claims of a provider with plain OAuth 2.0. */
async function readClaims({ connection, kit }: Exchange, accessToken: string) {
  const { adapter } = connection.provider
  const headers = { accept: 'application/json', authorization: `Bearer ${accessToken}`, 'user-agent': 'grantry' }
  return adapter?.readClaims?.(async (url) => {
    const fetched = await connection.outgoing.get(url, headers, kit.now())
    if (fetched.problem !== undefined || fetched.status !== 200) return undefined
    try {
      return parseExactJson(fetched.body)
    } catch {
      return undefined
    }
  })
}

/** Reads further claims, which must be those of the same user (OpenID Connect Core section 5.3.2). */
async function readUserinfo(
  { connection, library, client }: Exchange,
  accessToken: string,
  sub: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const isOffered = client.serverMetadata().userinfo_endpoint !== undefined
  if (!isOffered || !connection.provider.userinfo || typeof sub !== 'string') return {}
  return library.oidc.fetchUserInfo(client, accessToken, sub, library.dpopOf(client))
}

async function openIdClaims(exchange: Exchange, tokens: { id_token?: string | undefined; access_token: string }) {
  const { client, kit, connection } = exchange
  const { jwks_uri: jwksUri, issuer } = client.serverMetadata()
  const verified = await exchange.tokens.verify(tokens.id_token ?? '', { jwksUri, issuer }, kit)
  if (isFailure(verified)) return verified
  const userinfo = await readUserinfo(exchange, tokens.access_token, verified.sub)
  // Claims of userinfo must not state how users have signed in, because users may be able to edit them.
  const { email, email_verified, amr: _, acr: _acr, auth_time: _time, sid: _sid, ...others } = userinfo
  // An address and whether it is verified come from one place.
  const mail = verified.email === undefined ? { email, email_verified } : {}
  return upstreamClaims({ ...others, ...verified, ...mail }, String(verified.iss), connection.provider)
}

/** A user who has signed in at a provider, and the tokens of the response. */
export interface Redeemed {
  readonly claims: UpstreamClaims
  readonly tokens: TokenEndpointResponse
}

/**
 * Redeems the code of a response, and returns the verified claims of the user.
 *
 * @see RFC 9207; OpenID Connect Core section 3.1.3
 */
export async function redeem(
  connection: Connection,
  tokens: UpstreamTokens,
  { params, callback }: UpstreamResponse,
  state: StoredState,
  kit: EndpointKit,
): Promise<Redeemed | UpstreamFailure> {
  const opened = await connection.open(kit)
  if (isFailure(opened)) return opened
  const exchange = { connection, tokens, kit, ...opened }
  const { provider } = connection
  const isOpenId = provider.adapter?.endpoints === undefined
  try {
    const { library, client } = opened
    const granted = await library.oidc.authorizationCodeGrant(
      client,
      new URL(`${callback}?${new URLSearchParams(params)}`),
      {
        expectedState: params.state ?? '',
        pkceCodeVerifier: state.verifier,
        ...(isOpenId && { expectedNonce: state.nonce, idTokenExpected: true }),
      },
      {},
      library.dpopOf(client),
    )
    const sent = provider.adapter?.claimsOf?.(params) ?? {}
    if (!isOpenId) {
      const read = await readClaims(exchange, granted.access_token)
      if (read === undefined) return failed('claims_unavailable')
      const claims = upstreamClaims({ ...sent, ...read }, provider.issuer, provider)
      return isFailure(claims) ? claims : { claims, tokens: granted }
    }
    const claims = await openIdClaims(exchange, granted)
    return isFailure(claims) ? claims : { claims: { ...sent, ...claims }, tokens: granted }
  } catch (error) {
    return failed(reasonOf(error))
  }
}
