import { isLocalhostUrl } from '@grantry/core'
import * as oidc from 'openid-client'
import { startCallbackServer } from './callback-server.ts'

export interface LoginTest {
  readonly issuer: string
  readonly clientId: string
  /** `undefined` for a public client. */
  readonly secret: string | undefined
  /** A redirect URI of the client, on loopback. */
  readonly redirectUri: string
  readonly scope: string
  /** Seconds to wait for the user. */
  readonly wait: number
  /** Called with the URL that the user opens. */
  readonly opened: (url: string) => void
}

/** What the client got. */
export interface LoginResult {
  /** The claims of the identity token; absent without the scope `openid`. */
  readonly identity?: object | undefined
  readonly userinfo?: object | undefined
  readonly scope: string | undefined
  /** Seconds. */
  readonly expiresIn: number | undefined
  readonly tokens: Readonly<Record<string, string>>
}

/** Reads the discovery document, as every client does. */
function discover({ issuer, clientId, secret }: LoginTest): Promise<oidc.Configuration> {
  const server = new URL(issuer)
  const authentication = secret === undefined ? oidc.None() : oidc.ClientSecretBasic(secret)
  const execute = server.protocol === 'http:' && isLocalhostUrl(issuer) ? [oidc.allowInsecureRequests] : []
  return oidc.discovery(server, clientId, undefined, authentication, { execute })
}

const tokensIn = (response: oidc.TokenEndpointResponse): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [response.access_token, response.refresh_token, response.id_token].flatMap((token, index) =>
      token === undefined ? [] : [[['access_token', 'refresh_token', 'id_token'][index], token]],
    ),
  )

/**
 * Performs an authorization code flow with PKCE, as a client does: the user signs in with the browser.
 *
 * @see RFC 6749 section 4.1, RFC 7636, RFC 8252
 */
export async function logIn(test: LoginTest): Promise<LoginResult> {
  const client = await discover(test)
  const verifier = oidc.randomPKCECodeVerifier()
  const [state, nonce] = [oidc.randomState(), oidc.randomNonce()]
  const hasIdentity = test.scope.split(' ').includes('openid')
  const server = await startCallbackServer(test.redirectUri, state)
  try {
    const request = oidc.buildAuthorizationUrl(client, {
      redirect_uri: server.redirectUri,
      scope: test.scope,
      state,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ...(hasIdentity && { nonce }),
    })
    test.opened(request.href)
    const response = await server.response(test.wait)
    const checks = { pkceCodeVerifier: verifier, expectedState: state, ...(hasIdentity && { expectedNonce: nonce }) }
    const granted = await oidc.authorizationCodeGrant(client, response, checks)
    const identity = granted.claims()
    const hasUserinfo = client.serverMetadata().userinfo_endpoint !== undefined
    const userinfo =
      identity && hasUserinfo ? await oidc.fetchUserInfo(client, granted.access_token, identity.sub) : undefined
    return {
      identity,
      userinfo,
      scope: granted.scope,
      expiresIn: granted.expires_in,
      tokens: tokensIn(granted),
    }
  } finally {
    server.close()
  }
}
