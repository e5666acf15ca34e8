import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseConfiguration } from '@grantry/core'
import { type Credentials, sha256Of, storeGrant } from '@grantry/testing'
import { type Configuration, configurationSchema } from '../support/configuration-schema.ts'
import { api1, redirectUri, spaClientId, testUsers } from '../support/fixture.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'

/** Gets no token without a proof. Its access tokens are JWTs. */
export const service: Credentials = ['service', 'service-secret']

const audience = 'https://api1.example.com'
const scopes = ['openid', 'profile', 'offline_access', 'api1']

/** Where a server with the plugin `dpop` listens. */
export interface DpopServer {
  readonly issuer: string
  readonly port: number
  /** A page of the origin of the login page. */
  readonly page: string
  close(): Promise<unknown>
}

/**
 * The ready server with the plugin `dpop`, and the login page of a host at another origin, where alice consents to
 * everything. A public client runs in pages of that origin.
 *
 * @param nonce whether proofs need a nonce of the server
 * @param proxy the origin of the proxy in front of the server, if there is one
 */
export async function startDpopServer(nonce: boolean, proxy?: string): Promise<DpopServer> {
  const port = await reservedPort()
  const issuer = proxy ?? `http://127.0.0.1:${port}`
  const login = createServer(async ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, issuer)
    if (pathname !== '/login') return response.setHeader('content-type', 'text/html').end('<title>client</title>')
    const params = Object.fromEntries(searchParams)
    const { client_id: clientId = '', redirect_uri = '', scope = '', nonce, state = '' } = params
    const subject = { sub: '1', amr: ['pwd'] }
    const request = { clientId, redirectUri: redirect_uri, scopes: scope.split(' '), subject, params }
    const code = await storeGrant(server.provider, { kind: 'code', ...request, nonce })
    const callback = new URLSearchParams({ code, state, iss: issuer })
    return response.writeHead(303, { location: `${redirect_uri}?${callback}` }).end()
  })
  await new Promise<void>((resolve) => login.listen(0, '127.0.0.1', resolve))
  const page = `http://127.0.0.1:${(login.address() as AddressInfo).port}`
  const configuration: Configuration = {
    issuer,
    storage: { driver: 'memory' },
    // oauth4webapi requires `sub` in JWT access tokens.
    clientTokenSubject: 'client_id',
    authorizationEndpoint: `${page}/login`,
    scopes: [{ name: api1[0], secrets: [{ sha256: sha256Of(api1[1]) }], audience }],
    users: testUsers().service,
    clients: [
      {
        clientId: service[0],
        secrets: [{ sha256: sha256Of(service[1]) }],
        dpopBoundAccessTokens: true,
        grantTypes: ['client_credentials', 'authorization_code', 'refresh_token'],
        scopes,
        redirectUris: [redirectUri],
      },
      {
        clientId: spaClientId,
        public: true,
        grantTypes: ['authorization_code', 'refresh_token'],
        scopes,
        redirectUris: [redirectUri, `${page}/callback`],
        allowedCorsOrigins: [page],
        accessTokenFormat: 'reference',
      },
    ],
    plugins: [{ name: 'dpop', nonce }],
    trustedProxies: proxy === undefined ? 0 : 1,
  }
  const loaded = {
    configuration: parseConfiguration(configurationSchema, configuration, ''),
    file: 'grantry.config.mjs',
    directory: '.',
  }
  const server = await startServer({ loaded, port, observe: () => {} })
  return {
    issuer,
    port,
    page,
    async close() {
      login.close()
      login.closeAllConnections()
      await server.close(0)
    },
  }
}

/** Follows an authorization request, as a browser does. Returns the redirect target. */
export async function logIn(authorizationUrl: URL): Promise<URL> {
  const { headers } = await fetch(authorizationUrl, { redirect: 'manual' })
  return new URL(headers.get('location') ?? 'nowhere:')
}
