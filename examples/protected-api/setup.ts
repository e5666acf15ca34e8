import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { dpop } from '@grantry/plugins/dpop'
import { createResourceServer } from '@grantry/resource-server'
import { createDemoProvider, demoClient, demoScope, issuer } from '../provider.ts'

/** The name of the API in tokens, and its public URL. */
const audience = `${issuer}/orders`

/** A provider that knows the client of `client.ts` by its public key. */
export const createProviderWithRobot = () =>
  createDemoProvider({
    plugins: [clientCredentials(), clientAssertion(), dpop()],
    scopes: [demoScope, { name: 'orders:read', audience }, { name: 'orders:delete', audience }],
    clients: [
      demoClient,
      {
        clientId: 'robot',
        jwks: {
          keys: [
            {
              kty: 'EC',
              crv: 'P-256',
              x: 'WxtApTrOucgey8TW-34v2G9HkJDym49nyHrNoHirmbw',
              y: 'J4_sMon_jCgjNJQ8xfvjzOc1bnpyLZtMFDQ6Va6noYM',
            },
          ],
        },
        dpopBoundAccessTokens: true,
        accessTokenFormat: 'jwt',
        grantTypes: ['client_credentials'],
        scopes: ['orders:read', 'orders:delete'],
      },
    ],
  })

/** Protects the API. It knows only the URL of the issuer, which could run elsewhere. */
export const api = createResourceServer({ issuer, audience, dpop: { baseUrl: issuer }, requiredBinding: 'dpop' })
