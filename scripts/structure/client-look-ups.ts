import type { ClientOptions } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { signIn } from '@grantry/plugins/sign-in'
import { createTestProvider, sha256Of } from '@grantry/testing'

/** How often a request asks the client store. */
export interface RequestLookUps {
  readonly request: string
  readonly count: number
}

const redirectUri = 'https://client.example.com/callback'
const client: ClientOptions = {
  clientId: 'web',
  secrets: [{ sha256: sha256Of('web-secret') }],
  grantTypes: ['authorization_code'],
  scopes: ['openid', 'api1'],
  redirectUris: [redirectUri],
}
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'

const hiddenIn = (html: string): Record<string, string> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/gu)].map(([, name, value]) => [name, value]),
  )

/** Signs a user in on the ready pages, redeems the code, and counts the look-ups of the client in each. */
export async function clientLookUps(): Promise<readonly RequestLookUps[]> {
  let count = 0
  const { provider, post } = await createTestProvider({
    plugins: [
      authorizationCode(),
      proofKey(),
      authorizationEndpoint({ interaction: signIn({ pages: createPages() }) }),
    ],
    clients: {
      find(clientId) {
        count += 1
        return clientId === client.clientId ? client : undefined
      },
    },
    users: { authenticate: ({ username }) => ({ sub: username }) },
  })
  const results: RequestLookUps[] = []
  const cookies = new Map<string, string>()

  async function measured<T>(request: string, send: () => T | Promise<T>): Promise<T> {
    const before = count
    const response = await send()
    results.push({ request, count: count - before })
    return response
  }
  /** Opens a page of the provider as a browser does, or returns where it redirects to. */
  async function open(url: string, form?: Record<string, string>): Promise<string> {
    const headers = { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') }
    const sent = form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }
    const name = `${sent.method ?? 'GET'} ${new URL(url).pathname}`
    const response = await measured(name, () =>
      provider.fetch(new Request(url, { headers, ...sent }), { clientAddress: '192.0.2.1' }),
    )
    for (const line of response.headers.getSetCookie()) {
      const [, cookie = '', value = ''] = /^([^=]+)=([^;]*)/u.exec(line) ?? []
      cookies.set(cookie, value)
    }
    const location = response.headers.get('location')
    if (location === null) return response.text()
    return location.startsWith(`${provider.issuer}/`) ? open(location) : location
  }

  const query = new URLSearchParams({
    client_id: 'web',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid api1',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const { issuer } = provider
  const page = await open(`${issuer}/connect/authorize?${query}`)
  const password = { ...hiddenIn(page), username: 'alice', password: 'alice-password' }
  const consent = await open(`${issuer}/connect/signin`, password)
  const answer = await open(`${issuer}/connect/consent`, { ...hiddenIn(consent), decision: 'allow' })
  const code = new URL(answer).searchParams.get('code') ?? ''
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier }
  const { status } = await measured('POST /connect/token', () => post('token', form, ['web', 'web-secret']))
  if (status !== 200) throw new Error(`The sign-in ended with ${status}`)
  return results
}
