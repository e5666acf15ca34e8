import * as oidc from 'openid-client'
import { localPath, type Settings } from './client-options.ts'
import { type ClientSessions, now } from './client-sessions.ts'
import type { Connection } from './connection.ts'
import { type Cookies, cookieValue } from './cookies.ts'
import { createSeals } from './sealed.ts'
import { tokensOf } from './tokens.ts'

/** Seconds that a user can take to sign in. */
const lifetime = 1800

/** The two requests of a sign-in: to the provider, and back. Each returns the URL to which the browser goes. */
export interface SignInFlow {
  begin(cookies: Cookies, returnTo: string | null): Promise<string>
  /** @throws if the response does not belong to this browser, or the provider has refused */
  end(cookies: Cookies, query: string): Promise<string>
}

export function createSignInFlow(settings: Settings, connection: Connection, sessions: ClientSessions): SignInFlow {
  const { issuer, clientId, url, scopes, secrets } = settings
  const redirectUri = `${url}/callback`
  const { origin } = new URL(url)
  const seals = createSeals(secrets, ['sign-in', issuer, clientId, url])
  const cookie = cookieValue('grantry-sign-in', url.startsWith('https:'))

  return {
    async begin(cookies, returnTo) {
      const config = await connection.open()
      const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()]
      const begun = { state, nonce, verifier, returnTo: localPath(returnTo, origin) ?? '/' }
      cookie.write(cookies, await seals.seal(begun, now() + lifetime), lifetime)
      return oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).href
    },

    async end(cookies, query) {
      const text = cookie.read(cookies)
      const begun = text === undefined ? undefined : await seals.open(text)
      const { state, nonce, verifier, returnTo } = (begun ?? {}) as Record<string, string>
      // Keeps the cookie: another site could otherwise end the sign-in of this browser.
      if (state === undefined || new URLSearchParams(query).get('state') !== state) {
        throw new Error('This browser has not begun this sign-in')
      }
      cookie.remove(cookies)
      const granted = await oidc.authorizationCodeGrant(await connection.open(), new URL(redirectUri + query), {
        expectedState: state,
        idTokenExpected: true,
        ...(nonce !== undefined && { expectedNonce: nonce }),
        ...(verifier !== undefined && { pkceCodeVerifier: verifier }),
      })
      const claims = granted.claims() as oidc.IDToken
      await sessions.begin(cookies, {
        id: oidc.randomState(),
        sub: claims.sub,
        claims,
        startedAt: claims.iat,
        endsAt: now() + settings.lifetime,
        tokens: tokensOf(granted),
      })
      return origin + (returnTo ?? '/')
    },
  }
}
