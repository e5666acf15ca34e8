import { type ProviderOptions, signingKeys } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { type HandlersOptions, handlers } from '../../packages/next/src/index.ts'

export const issuer = 'https://site.example.com/id'
export const discovery = new Request(`${issuer}/.well-known/openid-configuration`)

/** What the module shares is of the process. */
export const forgetProviders = (): void => void Reflect.deleteProperty(globalThis, Symbol.for('@grantry/next'))

/** Counts what is opened and closed. `slow` is a client look-up that waits. */
export function observed(more: Partial<ProviderOptions> = {}) {
  const counted = { opened: 0, closed: 0 }
  const source = (): ProviderOptions => {
    counted.opened += 1
    const dispose = (): void => {
      counted.closed += 1
    }
    const storage = { ...memoryDriver(), dispose }
    return {
      ...{ issuer, keys: signingKeys({ algorithm: 'ES256' }), storage, clients: [], plugins: [clientCredentials()] },
      ...more,
    }
  }
  return { counted, source, load: (options?: HandlersOptions) => handlers(source, options) }
}
