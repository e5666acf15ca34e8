import { readParameters } from '@grantry/core'
import { createSignInFlow } from './client/begin-sign-in.ts'
import { parseSettings, type SignInClientOptions } from './client/client-options.ts'
import { createClientSessions, type SignInSession } from './client/client-sessions.ts'
import { createConnection } from './client/connection.ts'
import { type Cookies, cookiesOf, type RequestCookies } from './client/cookies.ts'
import { createSignOut } from './client/sign-out.ts'
import { createAccessTokens } from './client/tokens.ts'

export type { SessionStore, SignInClientOptions } from './client/client-options.ts'
export type { SignInSession } from './client/client-sessions.ts'
export type { CookieOptions, Cookies } from './client/cookies.ts'

/** The sign-in of an application whose users come from a provider. */
export interface SignInClient {
  /** The exports of the route file: `login`, with `returnTo`, and `callback`. */
  readonly GET: (request: Request) => Promise<Response>
  /** The exports of the route file: `logout`, from a form of the site, and `backchannel`, for logout tokens. */
  readonly POST: (request: Request) => Promise<Response>
  /** Returns who is signed in. `undefined` without a session, and after a logout token for it. */
  session(cookies: Cookies): Promise<SignInSession | undefined>
  /**
   * Returns the access token of the session, for an API, and renews it shortly before its end: once, for all requests of the process
   * that need it. `undefined` without a session, and when the provider has ended the authorization: let the user sign in.
   *
   * @throws what `cookies.set` throws, without a store: there, call it in route handlers and server actions only. Errors of
   * openid-client while the provider is away.
   */
  accessToken(cookies: Cookies): Promise<string | undefined>
}

/** Bytes of a form. */
const maxLength = 65_536

const headers = [['cache-control', 'no-store']] as const

const redirect = (location: string, cookies?: RequestCookies): Response =>
  new Response(null, {
    status: 303,
    headers: [...headers, ['location', location], ...(cookies?.headers() ?? [])] as never,
  })

const text = (message: string, status: number, cookies?: RequestCookies): Response =>
  new Response(message, { status, headers: [...headers, ...(cookies?.headers() ?? [])] as never })

const refusal = (error: string, status: number): Response =>
  Response.json({ error }, { status, headers: headers as never })

/** Next.js replaces the host in the URL of a request. */
const actionOf = ({ url }: Request): string => new URL(url).pathname.split('/').at(-1) ?? ''

/** Returns the code of an error of openid-client, without the response, which could contain tokens. */
function codeOf(error: unknown): string {
  const { error: code } = error as { readonly error?: unknown }
  return typeof code === 'string' && /^\w{1,64}$/u.test(code) ? code : 'sign_in_failed'
}

/**
 * Signs users in at an OpenID provider, with PKCE, state and nonce, by openid-client.
 *
 * @throws TypeError when an option is malformed.
 * @example
 * // auth.ts
 * export const client = signInClient({ issuer, clientId, clientSecret, url: 'https://app.example.com/auth', secrets })
 * export const auth = async () => client.session(await cookies())
 * // app/auth/[action]/route.ts
 * export const { GET, POST } = client
 */
export function signInClient(options: SignInClientOptions): SignInClient {
  const settings = parseSettings(options)
  const { url, errorPath, sessions: store } = settings
  const { origin } = new URL(url)
  const connection = createConnection(settings)
  const sessions = createClientSessions(settings)
  const flow = createSignInFlow(settings, connection, sessions)
  const { signOut, receive } = createSignOut(settings, connection, sessions)

  async function failed(error: unknown, cookies: RequestCookies): Promise<Response> {
    console.error('The sign-in has failed:', error instanceof Error ? error.message : 'unknown error')
    const code = codeOf(error)
    if (errorPath === undefined) return text(`The sign-in has failed: ${code}`, 400, cookies)
    return redirect(`${origin}${errorPath}?${new URLSearchParams({ error: code })}`, cookies)
  }

  async function callback(request: Request, cookies: RequestCookies): Promise<Response> {
    try {
      return redirect(await flow.end(cookies, new URL(request.url).search), cookies)
    } catch (error) {
      return failed(error, cookies)
    }
  }

  /** Another site could sign users out. */
  async function logout(request: Request, cookies: RequestCookies): Promise<Response> {
    const isOfSite = request.headers.get('sec-fetch-site') === 'same-origin' || request.headers.get('origin') === origin
    return isOfSite ? redirect(await signOut(cookies), cookies) : text('Send a form of this site', 403)
  }

  async function backchannel(request: Request): Promise<Response> {
    if (store === undefined) return text('Logout tokens need a store: sessions', 501)
    const { logout_token: token = '' } = await readParameters(request, maxLength).catch(
      (): Record<string, string> => ({}),
    )
    try {
      if (!(await receive(token))) return refusal('invalid_request', 400)
      return new Response(null, { status: 200, headers: headers as never })
    } catch (error) {
      console.error('A logout token was not read:', error instanceof Error ? error.message : 'unknown error')
      return refusal('temporarily_unavailable', 503)
    }
  }

  return {
    async GET(request) {
      const cookies = cookiesOf(request)
      const action = actionOf(request)
      if (action === 'callback') return callback(request, cookies)
      if (action !== 'login') return text('Not found', 404)
      const returnTo = new URL(request.url).searchParams.get('returnTo')
      return redirect(await flow.begin(cookies, returnTo), cookies)
    },
    async POST(request) {
      const action = actionOf(request)
      if (action === 'logout') return logout(request, cookiesOf(request))
      return action === 'backchannel' ? backchannel(request) : text('Not found', 404)
    },
    async session(cookies) {
      const session = await sessions.read(cookies)
      return session && { sub: session.sub, claims: session.claims, endsAt: session.endsAt }
    },
    accessToken: createAccessTokens(connection, sessions, store !== undefined),
  }
}
