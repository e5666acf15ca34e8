import { serve } from '@grantry/adapters/node'
import type { ConnectionInfo } from '@grantry/core'
import { authorizationCode } from '@grantry/plugins/authorization-code'
import { authorizationEndpoint } from '@grantry/plugins/authorization-endpoint'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { proofKey } from '@grantry/plugins/proof-key'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { tokenExchange } from '@grantry/plugins/token-exchange'
import { createTestProvider, sha256Of } from '@grantry/testing'
import { createResourceServer } from '../../packages/resource-server/src/index.ts'
import { hostSignIn, redirectUri } from '../authorization/parties.ts'
import { assertionType, claims, client, sign } from '../client-assertion/assertions.ts'
import { refresh, started } from '../refresh-token/refresh-settings.ts'
import * as issuers from '../resource-server/issuer.ts'
import { fixture, web } from '../support/fixture.ts'
import type { Shape } from './shape.ts'

/** The header of a proxy, as the provider gets the certificate. */
async function certificateBehind(value: string): Promise<string | undefined> {
  let seen: string | undefined
  const provider = {
    issuer: 'https://id.example.com',
    fetch: async (_: Request, connection?: ConnectionInfo) => {
      seen = connection?.clientCertificate?.der
      return new Response()
    },
  }
  const header = { header: 'x-client-cert', format: 'der', proxies: ['127.0.0.1'] } as const
  const { port, close } = await serve(provider, { clientCertificate: header })
  await fetch(`http://127.0.0.1:${port}`, { headers: { 'x-client-cert': value } })
  await close(0)
  return seen
}

const form = { grant_type: 'client_credentials', scope: 'api1' }

export const apiShapes: readonly Shape[] = [
  {
    client: 'a client that repeats a refresh whose response was lost, after ten seconds',
    gets: 'the rest of the lifetime',
    run: async () => {
      const { f, token } = await started()
      const first = (await refresh(f, token)).body
      f.clock.advance(9)
      const again = (await refresh(f, token)).body
      return [again.access_token === first.access_token, first.expires_in - again.expires_in]
    },
    expected: [true, 9],
  },
  {
    client: 'a client that pushes a request with an assertion for the PAR endpoint',
    gets: 'a request URI',
    run: async () => {
      const { post, provider } = await createTestProvider({
        plugins: [
          authorizationCode(),
          proofKey(),
          authorizationEndpoint({ interaction: hostSignIn, features: [pushedAuthorization()] }),
          clientAssertion(),
        ],
        clients: [client({ grantTypes: ['authorization_code'], redirectUris: [redirectUri] })],
      })
      const assertion = await sign({ ...claims(), aud: `${provider.issuer}/connect/par` })
      const pushed = { response_type: 'code', redirect_uri: redirectUri, scope: 'api1', code_challenge: 'a'.repeat(43) }
      const credentials = { client_assertion_type: assertionType, client_assertion: assertion }
      return (await post('pushedAuthorization', { ...pushed, code_challenge_method: 'S256', ...credentials })).status
    },
    expected: 201,
  },
  {
    client: 'an API whose issuer writes absent members as null',
    gets: 'the token',
    run: async () => {
      const { test: issuer } = await issuers.createApi()
      const absent = { nbf: null, sub: null, client_id: null, cnf: null }
      const active = { active: true, aud: issuers.audience, exp: 2e9, scope: 'read', ...absent }
      issuer.responses.set(`${issuers.issuer}/introspect`, () => Response.json(active))
      const introspection = { clientId: 'orders', clientSecret: 'secret' }
      const api = createResourceServer({ ...issuer.options, introspection })
      return (await api.authorize(issuers.bearing('abc'))).reason
    },
    expected: undefined,
  },
  {
    client: 'Traefik or HAProxy, which write the certificate as base64',
    gets: 'the certificate to the provider',
    run: () => certificateBehind('MAMCAQE+/w=='),
    expected: 'MAMCAQE+/w==',
  },
  {
    client: 'a service that exchanges its own token, which has it as the subject',
    gets: 'a token',
    run: async () => {
      const grantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
      const { post } = await fixture({
        plugins: [clientCredentials(), tokenExchange({ allow: () => true })],
        clientTokenSubject: 'client_id',
        clients: [
          {
            clientId: web[0],
            secrets: [{ sha256: sha256Of(web[1]) }],
            grantTypes: ['client_credentials', grantType],
            scopes: ['api1', 'api2'],
          },
        ],
      })
      const token = (await post('token', form, web)).body.access_token
      const type = 'urn:ietf:params:oauth:token-type:access_token'
      const exchange = { grant_type: grantType, subject_token: token, subject_token_type: type, scope: 'api1' }
      return (await post('token', exchange, web)).status
    },
    expected: 200,
  },
  {
    client: 'an application of Capacitor, Ionic or Tauri',
    gets: 'responses from another origin',
    run: async () => {
      const origins = ['capacitor://localhost', 'ionic://localhost', 'tauri://localhost']
      const spa = { clientId: 'app', public: true, grantTypes: ['authorization_code'], redirectUris: [redirectUri] }
      const { provider } = await fixture({ clients: [{ ...spa, allowedCorsOrigins: origins }] })
      const preflight = async (origin: string) => {
        const headers = { origin, 'access-control-request-method': 'POST' }
        const request = new Request(`${provider.issuer}/connect/token`, { method: 'OPTIONS', headers })
        return (await provider.fetch(request)).headers.get('access-control-allow-origin')
      }
      return Promise.all(origins.map(preflight))
    },
    expected: ['capacitor://localhost', 'ionic://localhost', 'tauri://localhost'],
  },
]
