import type { Provider } from '@grantry/core'

/** The hidden fields of a page with a form. */
export const hiddenIn = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/gu)].map(([, name, value]) => [name, value]),
  )

type Send = (request: Request) => Promise<Response>

/**
 * Returns a browser of a user: it keeps cookies, and follows redirects within the provider. Resolves to the text of the
 * page, or to the URL outside of the provider.
 */
export function openBrowser(
  { fetch, issuer }: Pick<Provider, 'fetch' | 'issuer'>,
  around = (request: Request, send: Send) => send(request),
) {
  const cookies = new Map<string, string>()
  const send: Send = async (request) => fetch(request, { clientAddress: '192.0.2.1' })
  return async function open(url: string, form?: Record<string, string>): Promise<string> {
    const headers = { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') }
    const sent = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
    const response = await around(new Request(url, { headers, ...sent }), send)
    for (const line of response.headers.getSetCookie()) {
      const [, cookie = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(line) ?? []
      cookies.set(cookie, value)
    }
    const location = response.headers.get('location')
    if (location === null) return response.text()
    return location.startsWith(`${issuer}/`) ? open(location) : location
  }
}

const redirectUri = 'https://client.example.com/callback'
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

/** The client that users sign in at. */
export const web = { clientId: 'web', redirectUris: [redirectUri] }

/** The URL of an authorization request with this scope. */
export const authorizationUrl = (issuer: string, scope: string, more: Record<string, string> = {}): string =>
  `${issuer}/connect/authorize?${new URLSearchParams({
    client_id: 'web',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  })}`

/** The form that redeems a code. */
export const redemptionOf = (code: string): Record<string, string> => ({
  grant_type: 'authorization_code',
  code,
  redirect_uri: redirectUri,
  code_verifier: verifier,
})

/** Signs a user in on the ready pages, and allows what the client asks for. Resolves to where the browser is led. */
export async function signInWith(open: ReturnType<typeof openBrowser>, issuer: string, scope: string): Promise<string> {
  const page = await open(authorizationUrl(issuer, scope))
  const password = { ...hiddenIn(page), username: 'alice', password: 'alice-password' }
  const consent = await open(`${issuer}/connect/signin`, password)
  return open(`${issuer}/connect/consent`, { ...hiddenIn(consent), decision: 'allow' })
}
