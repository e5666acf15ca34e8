import { errors, type JWTPayload, jwtVerify } from 'jose'
import * as oidc from 'openid-client'
import type { Settings } from './client-options.ts'
import type { ClientSessions } from './client-sessions.ts'
import type { Connection } from './connection.ts'
import type { Cookies } from './cookies.ts'

const event = 'http://schemas.openid.net/event/backchannel-logout'
/** Seconds for which a logout token is accepted. */
const maxTokenAge = 300
/** Seconds by which the clock of the provider can differ. */
const clockTolerance = 60
const algorithms = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512', 'EdDSA', 'Ed25519']

/** @see OpenID Connect Back-Channel Logout 1.0 section 2.6 */
function isLogoutToken({ events, nonce, sub, sid }: JWTPayload, typ: string | undefined): boolean {
  return (
    (typ === undefined || /^(?:application\/)?(?:logout\+)?jwt$/iu.test(typ)) &&
    typeof events === 'object' &&
    events !== null &&
    Object.hasOwn(events, event) &&
    nonce === undefined &&
    [sub, sid].some((value) => typeof value === 'string' && value !== '') &&
    [sub, sid].every((value) => value === undefined || typeof value === 'string')
  )
}

/** Whether the keys of the provider could not be read. */
const isUnavailable = (error: unknown): boolean =>
  !(error instanceof errors.JOSEError) || ['ERR_JWKS_TIMEOUT', 'ERR_JOSE_GENERIC'].includes(error.code)

/** The ends of sessions: by the user, and by the provider. */
export interface SignOut {
  /** Returns the URL at the provider, which ends the session there, too. */
  signOut(cookies: Cookies): Promise<string>
  /**
   * Ends the sessions that a logout token names. Returns `false` for a token that is not valid.
   *
   * @throws if the keys of the provider, or the store, cannot be read: the provider sends the token again
   */
  receive(logoutToken: string): Promise<boolean>
}

export function createSignOut(settings: Settings, connection: Connection, sessions: ClientSessions): SignOut {
  const { clientId, url, afterLogout } = settings
  const after = new URL(url).origin + afterLogout

  return {
    async signOut(cookies) {
      const session = await sessions.read(cookies)
      await sessions.end(cookies, session)
      // The session here has ended even if the provider is unreachable.
      const config = await connection.open().catch(() => undefined)
      if (session === undefined || config?.serverMetadata().end_session_endpoint === undefined) return after
      const parameters = { post_logout_redirect_uri: after, id_token_hint: session.tokens.idToken }
      return oidc.buildEndSessionUrl(config, parameters).href
    },

    async receive(logoutToken) {
      const { issuer } = (await connection.open()).serverMetadata()
      const verified = await jwtVerify(logoutToken, await connection.keys(), {
        issuer,
        audience: clientId,
        algorithms,
        maxTokenAge,
        clockTolerance,
        requiredClaims: ['iat', 'exp', 'jti'],
      }).catch((error: unknown) => {
        if (isUnavailable(error)) throw error
        return undefined
      })
      if (verified === undefined || !isLogoutToken(verified.payload, verified.protectedHeader.typ)) return false
      const { sid, sub, iat = 0 } = verified.payload as JWTPayload & { readonly sid?: string }
      await sessions.endNamed({ sid, sub }, iat)
      return true
    },
  }
}
