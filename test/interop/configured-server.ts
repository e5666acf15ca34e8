import { type ClientOptions, parseConfiguration } from '@grantry/core'
import { clientAssertion } from '@grantry/plugins/client-assertion'
import { deviceGrantType, deviceVerification } from '@grantry/plugins/device-authorization'
import { tokenExchange } from '@grantry/plugins/token-exchange'
import { type Credentials, sha256Of } from '@grantry/testing'
import type { GrantryServer } from '../../packages/server/src/server.ts'
import { type ClientKey, createKey } from '../client-assertion/assertions.ts'
import { type Configuration, configurationSchema } from '../support/configuration-schema.ts'
import { clients, scopes, testUsers } from '../support/fixture.ts'
import { startServer } from '../support/patient-server.ts'
import { reservedPort } from '../support/reserved-port.ts'

export const deviceClientId = 'tv'
export const keyClientId = 'service'
export const sharedSecret: Credentials = ['shared', 'a shared secret of more than 32 bytes']
export const gateway: Credentials = ['gateway', 'gateway-secret']
export const exchangeGrantType = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'

/** One key for each algorithm that the libraries and the plugin share. */
export const keyAlgorithms = ['ES256', 'PS256', 'RS256', 'Ed25519'] as const
export type KeyAlgorithm = (typeof keyAlgorithms)[number]

export interface ConfiguredServer extends GrantryServer {
  readonly issuer: string
  readonly clientKeys: Readonly<Record<KeyAlgorithm, ClientKey>>
  /** Plays the page at `verification_uri`: alice approves, or denies. */
  decide(userCode: string, approves: boolean): Promise<boolean>
}

const common: Partial<ClientOptions> = { grantTypes: ['client_credentials'], scopes: ['api1', 'api2'] }

/** The ready server with every plugin that it includes, in a module configuration. */
export async function startConfiguredServer(): Promise<ConfiguredServer> {
  const port = await reservedPort()
  const issuer = `http://127.0.0.1:${port}`
  const entries = await Promise.all(
    keyAlgorithms.map(async (alg) => [alg, await createKey(alg, { kid: alg })] as const),
  )
  const keys = Object.fromEntries(entries) as Record<KeyAlgorithm, ClientKey>
  const configuration: Configuration = {
    issuer,
    storage: { driver: 'memory' },
    scopes: scopes.map((scope) => ({ audience: `https://${scope.name}.example.com`, ...scope })),
    users: testUsers().service,
    clients: [
      ...clients,
      {
        clientId: deviceClientId,
        public: true,
        grantTypes: [deviceGrantType, 'refresh_token'],
        scopes: ['openid', 'profile', 'offline_access', 'api1'],
      },
      { clientId: keyClientId, jwks: { keys: Object.values(keys).map(({ jwk }) => jwk) }, ...common },
      { clientId: sharedSecret[0], tokenEndpointAuthMethod: 'client_secret_jwt', ...common },
      {
        ...common,
        clientId: gateway[0],
        secrets: [{ sha256: sha256Of(gateway[1]) }],
        grantTypes: [exchangeGrantType],
      },
    ],
    plugins: [
      { name: 'device-authorization', verificationUri: `${issuer}/device`, interval: 1 },
      { name: 'dpop', nonce: true },
      { name: 'resource-indicators' },
      { name: 'jwt-introspection' },
      clientAssertion({ secretOf: (clientId) => (clientId === sharedSecret[0] ? sharedSecret[1] : undefined) }),
      tokenExchange({ allow: () => ({ scopes: ['api2'] }) }),
    ],
  }
  const loaded = {
    configuration: parseConfiguration(configurationSchema, configuration, ''),
    file: 'grantry.config.mjs',
    directory: '.',
  }
  const server = await startServer({ loaded, port, observe: () => {} })
  const page = server.provider.use(deviceVerification)
  return {
    ...server,
    issuer,
    clientKeys: keys,
    decide: (userCode, approves) =>
      approves
        ? page.approve(userCode, '192.0.2.1', { subject: { sub: '1', amr: ['pwd'] } })
        : page.deny(userCode, '192.0.2.1'),
  }
}
