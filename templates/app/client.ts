import { escapeHtml, htmlHeaders, type Provider } from '@grantry/core'
import * as oidc from 'openid-client'

// A demo client, which knows of its issuer only the URL, and its own id and secret.

/** The paths of the pages of the client. */
export const clientPaths: readonly string[] = ['/', '/sign-in', '/callback']

const cookieOf = (request: Request): readonly string[] =>
  /(?:^|; *)sign-in=([^;]*)/u.exec(request.headers.get('cookie') ?? '')?.[1]?.split('.') ?? []

/** Returns the pages of the client: those at the paths above. */
export function createClient(provider: Pick<Provider, 'issuer' | 'fetch'>, secret: string) {
  const { issuer } = provider
  const isPlain = issuer.startsWith('http:')
  const redirectUri = `${issuer}/callback`
  const cookieAttributes = `HttpOnly; SameSite=Lax; Path=/${isPlain ? '' : '; Secure'}`
  let discovered: oidc.Configuration | undefined

  const discover = async (): Promise<oidc.Configuration> => {
    discovered ??= await oidc.discovery(new URL(issuer), 'web', secret, undefined, {
      execute: isPlain ? [oidc.allowInsecureRequests] : [],
      // The issuer is in the same process. An application elsewhere leaves this line out.
      [oidc.customFetch]: (url, options) => provider.fetch(new Request(url, options as RequestInit)),
    })
    return discovered
  }

  const page = (content: string, status = 200): Response =>
    new Response(
      `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Demo</title><h1>Demo</h1>${content}</html>`,
      { status, headers: htmlHeaders(undefined, issuer) },
    )

  async function signIn(): Promise<Response> {
    const verifier = oidc.randomPKCECodeVerifier()
    const [state, nonce] = [oidc.randomState(), oidc.randomNonce()]
    const location = oidc.buildAuthorizationUrl(await discover(), {
      redirect_uri: redirectUri,
      scope: 'openid profile email',
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    })
    const cookie = `sign-in=${verifier}.${state}.${nonce}; Max-Age=1800; ${cookieAttributes}`
    return new Response(null, { status: 303, headers: { location: location.href, 'set-cookie': cookie } })
  }

  async function callback(request: Request): Promise<Response> {
    const [verifier, state, nonce] = cookieOf(request)
    if (verifier === undefined || state === undefined || nonce === undefined) {
      return page('<p>This sign-in has expired. <a href="/sign-in">Sign in</a></p>', 400)
    }
    try {
      const configuration = await discover()
      const tokens = await oidc.authorizationCodeGrant(
        configuration,
        new URL(redirectUri + new URL(request.url).search),
        { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce },
      )
      const sub = tokens.claims()?.sub ?? ''
      const claims = await oidc.fetchUserInfo(configuration, tokens.access_token, sub)
      const name = escapeHtml(String(claims.name ?? claims.email ?? sub))
      const shown = `<p>Signed in as ${name}</p><pre>${escapeHtml(JSON.stringify(claims, undefined, 2))}</pre>`
      // An issuer without sessions has no sign-out.
      if (configuration.serverMetadata().end_session_endpoint === undefined) return page(shown)
      const signOut = oidc.buildEndSessionUrl(configuration, {
        id_token_hint: tokens.id_token ?? '',
        post_logout_redirect_uri: `${issuer}/`,
      })
      return page(`${shown}<p><a href="${escapeHtml(signOut.href)}">Sign out</a></p>`)
    } catch (error) {
      // What the issuer has refused, and why: `access_denied`, for example, after "Cancel".
      const { error: code = 'unexpected' } = error as { readonly error?: string }
      if (code === 'unexpected') console.error(error)
      return page(`<p>Not signed in: ${escapeHtml(code)}. <a href="/sign-in">Sign in</a></p>`, 400)
    }
  }

  return async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (pathname === '/sign-in') return signIn()
    if (pathname === '/callback') return callback(request)
    return page('<p><a href="/sign-in">Sign in</a></p>')
  }
}
