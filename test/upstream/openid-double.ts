import { createHash } from 'node:crypto'
import { rsaKey } from '../support/keys.ts'
import { createIssuerKey, type IssuerKey } from '../support/trusted-issuer.ts'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** What a test changes of a provider. */
export interface DoubleOptions {
  readonly issuer?: string
  readonly clientId?: string
  /** Claims of the identity token. One that is `undefined` is omitted. */
  readonly claims?: Readonly<Record<string, unknown>>
  readonly userinfo?: Readonly<Record<string, unknown>>
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Changes what the authorization response has. */
  readonly response?: Readonly<Record<string, string | undefined>>
  /** Replaces the identity token. */
  readonly signToken?: (claims: Readonly<Record<string, unknown>>, key: IssuerKey) => Promise<string>
  /** Further members of the published key. */
  readonly keyMembers?: Readonly<Record<string, unknown>>
  /** Issues refresh tokens, each of which counts once. */
  readonly refreshes?: boolean
  /** Responds instead of the provider. */
  readonly intercept?: (url: URL, init: RequestInit) => Response | Promise<Response> | undefined
}

export const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } })

/** Real time: the library has no other clock. */
export const realNow = (): number => Math.floor(Date.now() / 1000)

interface Issued {
  readonly nonce: string | undefined
  readonly challenge: string
  readonly redirectUri: string
  /** The `login_hint`, if there is one. */
  readonly user: string
}

/** An OpenID provider in memory, with one user. Every code works once, with its verifier and redirect URI. */
export async function createOpenIdDouble(options: DoubleOptions = {}) {
  const { issuer = 'https://login.acme.example.com', clientId = 'grantry' } = options
  const settings = { ...options }
  // Its first key is always the same. A rotation, and an attacker, create others.
  let key = await createIssuerKey('key-1', 'RS256', rsaKey())
  const codes = new Map<string, Issued>()
  const requests: { readonly url: string; readonly body: string | undefined }[] = []
  let issued = 0

  const refreshTokens = new Set<string>()
  const newTokens = () => {
    issued += 1
    const response = { access_token: `upstream-access-token-${issued}`, token_type: 'Bearer', expires_in: 300 }
    if (settings.refreshes !== true) return response
    refreshTokens.add(`upstream-refresh-token-${issued}`)
    return { ...response, refresh_token: `upstream-refresh-token-${issued}` }
  }

  const tokenResponse = async (form: URLSearchParams): Promise<Response> => {
    if (form.get('grant_type') === 'refresh_token') {
      const isKnown = refreshTokens.delete(form.get('refresh_token') ?? '')
      return isKnown ? json(newTokens()) : json({ error: 'invalid_grant' }, 400)
    }
    const code = form.get('code') ?? ''
    const grant = codes.get(code)
    codes.delete(code)
    const isValid =
      grant !== undefined &&
      grant.redirectUri === form.get('redirect_uri') &&
      grant.challenge === sha256(form.get('code_verifier') ?? '')
    if (!isValid) return json({ error: 'invalid_grant' }, 400)
    const now = realNow()
    const claims = {
      iss: issuer,
      aud: clientId,
      sub: grant.user,
      iat: now,
      exp: now + 300,
      nonce: grant.nonce,
      ...settings.claims,
    }
    const present = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined))
    const token = await (settings.signToken?.(present, key) ?? key.sign(present, { alg: 'RS256' }))
    return json({ ...newTokens(), id_token: token })
  }

  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const { pathname } = new URL(url)
    const body = typeof init.body === 'string' ? init.body : undefined
    requests.push({ url, body })
    const intercepted = await settings.intercept?.(new URL(url), init)
    if (intercepted !== undefined) return intercepted
    if (!url.startsWith(issuer)) throw new TypeError('fetch failed')
    if (pathname.endsWith('/.well-known/openid-configuration')) {
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_response_iss_parameter_supported: true,
        ...(settings.userinfo !== undefined && { userinfo_endpoint: `${issuer}/userinfo` }),
        ...settings.metadata,
      })
    }
    if (pathname.endsWith('/keys'))
      return json({ keys: [{ ...key.jwk, use: 'sig', alg: 'RS256', ...settings.keyMembers }] })
    if (pathname.endsWith('/token')) return tokenResponse(new URLSearchParams(body))
    if (pathname.endsWith('/userinfo')) return json(settings.userinfo)
    return json({}, 404)
  }

  /** What the provider sends the browser back with, after its user has signed in. */
  function authorize(request: URL, changed: Readonly<Record<string, string | undefined>> = {}): string {
    const asked = request.searchParams
    issued += 1
    const code = `upstream-code-${issued}`
    const redirectUri = asked.get('redirect_uri') ?? ''
    codes.set(code, {
      nonce: asked.get('nonce') ?? undefined,
      challenge: asked.get('code_challenge') ?? '',
      redirectUri,
      user: asked.get('login_hint') ?? 'upstream-alice',
    })
    const response = { code, state: asked.get('state') ?? '', iss: issuer, ...settings.response, ...changed }
    const present = Object.entries(response).filter((pair): pair is [string, string] => pair[1] !== undefined)
    return `${redirectUri}?${new URLSearchParams(present)}`
  }

  return {
    issuer,
    clientId,
    fetch,
    authorize,
    requests,
    /** How many requests went to URLs that end with this text. */
    countOf: (end: string) => requests.filter(({ url }) => url.endsWith(end)).length,
    /** Signs a token with the key that is published. */
    sign: (content: Readonly<Record<string, unknown>>) => key.sign(content, { alg: 'RS256', typ: 'logout+jwt' }),
    /** Changes what the provider does from now on. */
    set: (changes: DoubleOptions) => Object.assign(settings, changes),
    /** Ends all refresh tokens. */
    revoke: () => refreshTokens.clear(),
    async rotate(kid: string) {
      key = await createIssuerKey(kid, 'RS256')
    },
  }
}

export type OpenIdDouble = Awaited<ReturnType<typeof createOpenIdDouble>>
