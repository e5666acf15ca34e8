import * as oidc from 'openid-client'
import { type ClientSessions, now, type SessionTokens, type StoredSession } from './client-sessions.ts'
import type { Connection } from './connection.ts'
import type { Cookies } from './cookies.ts'

type Granted = oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers

/** Seconds before its end at which an access token is replaced: a request with it takes time. */
const early = 30
/** Seconds for which requests with the former cookies get the tokens of a refresh. */
const kept = 60

/** Returns the tokens of a response. Tokens that the response leaves out stay. */
export function tokensOf(granted: Granted, former?: SessionTokens): SessionTokens {
  const seconds = granted.expiresIn()
  return {
    accessToken: granted.access_token,
    accessEndsAt: seconds === undefined ? undefined : now() + seconds,
    refreshToken: granted.refresh_token ?? former?.refreshToken,
    idToken: granted.id_token ?? former?.idToken ?? '',
  }
}

const isFresh = ({ tokens: { accessEndsAt = Number.POSITIVE_INFINITY } }: StoredSession): boolean =>
  now() < accessEndsAt - early

interface Refresh {
  readonly result: Promise<StoredSession | undefined>
  readonly until: number
}

/** Next.js bundles a module once for routes and once for pages. A refresh token must be used once. */
const key = Symbol.for('@grantry/next/client')

function refreshes(): Map<string, Refresh> {
  const all = globalThis as { [key]?: Map<string, Refresh> }
  all[key] ??= new Map()
  return all[key]
}

/** Returns the result of the refresh that another request has begun, or begins one. */
function refreshOnce(token: string, begin: () => Promise<StoredSession | undefined>): Refresh['result'] {
  const all = refreshes()
  for (const [former, { until }] of all) if (until <= now()) all.delete(former)
  const known = all.get(token)
  if (known !== undefined) return known.result
  const result = begin()
  all.set(token, { result, until: now() + kept })
  // The provider was unreachable: the next request tries again.
  result.catch(() => all.delete(token))
  return result
}

const isInvalidGrant = (error: unknown): boolean =>
  error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant'

/** Returns a function that returns the access token of a session, and renews it. `undefined` without a session. */
export function createAccessTokens(connection: Connection, sessions: ClientSessions, hasStore: boolean) {
  async function refresh(session: StoredSession, cookies: Cookies): Promise<StoredSession | undefined> {
    const { refreshToken } = session.tokens
    try {
      const granted = await oidc.refreshTokenGrant(await connection.open(), refreshToken ?? '')
      const claims = granted.claims()
      if (claims !== undefined && claims.sub !== session.sub) return undefined
      const renewed = { ...session, tokens: tokensOf(granted, session.tokens) }
      await sessions.renew(renewed)
      return renewed
    } catch (error) {
      if (!isInvalidGrant(error)) throw error
      // Another process can have used it a moment ago.
      const present = hasStore ? await sessions.read(cookies) : undefined
      return present?.tokens.refreshToken === refreshToken ? undefined : present
    }
  }

  return async (cookies: Cookies): Promise<string | undefined> => {
    const session = await sessions.read(cookies)
    if (session === undefined || isFresh(session)) return session?.tokens.accessToken
    const { refreshToken } = session.tokens
    if (refreshToken === undefined) return undefined
    // Checked before the refresh: a server component cannot set cookies, and would lose the new refresh token.
    if (!hasStore) await sessions.write(cookies, session)
    const renewed = await refreshOnce(refreshToken, () => refresh(session, cookies))
    if (renewed !== undefined && !hasStore) await sessions.write(cookies, renewed)
    return renewed?.tokens.accessToken
  }
}
