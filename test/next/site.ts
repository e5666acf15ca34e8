import type { ClientOptions } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { loginPage } from '@grantry/plugins/authorization-endpoint'
import { proofKey } from '@grantry/plugins/proof-key'
import { createTestProvider } from '@grantry/testing'
import { type AuthorizeRouteOptions, authorizeRoute, type UserOfSite } from '../../packages/next/src/authorize.ts'

export const issuer = 'https://site.example.com/id'
/** Next.js replaces the host. */
const route = 'http://localhost:3000/id/authorize'
const redirectUri = 'https://client.example.com/callback'

const clients: readonly ClientOptions[] = [
  {
    ...{ clientId: 'web', public: true, grantTypes: ['authorization_code'], scopes: ['openid', 'profile'] },
    redirectUris: [redirectUri],
  },
]

const request = {
  ...{ client_id: 'web', redirect_uri: redirectUri, response_type: 'code', scope: 'openid profile', state: 's' },
  ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
}

type Fields = Readonly<Record<string, string>>

/** A site with its own session, which `user` is. */
export async function createSite(pages: { consentPath: string } | { trusted: true } = { consentPath: '/consent' }) {
  const { provider, clock } = await createTestProvider({
    ...{ issuer, clients, authorizationEndpoint: `${issuer}/authorize` },
    plugins: [authorizationCode(), proofKey(), loginPage()],
    users: {},
  })
  const site: { user: UserOfSite | undefined } = { user: undefined }
  const options: AuthorizeRouteOptions = { userOf: () => site.user, loginPath: '/login', ...pages }
  const { GET, POST } = authorizeRoute({ provider: async () => provider }, options)

  /** Returns where the browser is sent: the path with the names of its parameters, or the response of the client. */
  async function sentTo(answered: Promise<Response>) {
    const response = await answered
    const url = new URL(response.headers.get('location') ?? 'https://nowhere.example.com/')
    const { code, error } = Object.fromEntries(url.searchParams)
    return { status: response.status, page: url.origin + url.pathname, query: url.search, code, error, response }
  }

  return {
    site,
    provider,
    clock,
    now: () => clock.now(),
    open: (more: Fields = {}) => sentTo(GET(new Request(`${route}?${new URLSearchParams({ ...request, ...more })}`))),
    reopen: (query: string) => sentTo(GET(new Request(route + query))),
    /** Sends the form of the page for consent. */
    decide: (query: string, fields: Fields, headers: Fields = { origin: new URL(issuer).origin }) =>
      sentTo(
        POST(
          new Request(route, {
            method: 'POST',
            headers,
            body: new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(query)), ...fields }),
          }),
        ),
      ),
  }
}
