import {
  type ClientOptions,
  createProvider,
  type Provider,
  type ProviderOptions,
  type ScopeOptions,
  signingKeys,
} from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { memoryDriver } from '@grantry/storage-drivers/memory'

/** The port of the examples: the environment variable `PORT`, or 3000. */
export const port = Number(globalThis.process?.env?.PORT ?? 3000)
export const issuer = `http://127.0.0.1:${port}`

/** Its secret is `demo-secret`. */
export const demoClient: ClientOptions = {
  clientId: 'demo',
  secrets: [{ sha256: 'zVd/4lYev/I1BdsLsAYwDHzey9RrwOA8RJr6+sosJb8=' }],
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
}

/** Its secret is `api1-secret`. */
export const demoScope: ScopeOptions = {
  name: 'api1',
  secrets: [{ sha256: '6wQyUUAdTu9zHPV8/6ZUj+5sLyiatf+sGw+hjp41K8A=' }],
}

/**
 * Creates the provider of all examples: the client `demo` can request the scope `api1`. Keys and storage are lost when
 * the process exits.
 */
export const createDemoProvider = (options: Partial<ProviderOptions> = {}): Promise<Provider> =>
  createProvider({
    issuer,
    keys: signingKeys(),
    storage: memoryDriver(),
    clients: [demoClient],
    scopes: [demoScope],
    plugins: [clientCredentials()],
    ...options,
  })
