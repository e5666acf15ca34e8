import type { Runtime } from '@grantry/core'
import { nativeCrypto } from '../native-crypto.ts'
import { LightResponse } from './light-response.ts'

/**
 * The parts of a provider's runtime that Node.js does faster than web standards: hashing, base64url, encryption and signatures without a thread
 * hop, and a `Response` that its server writes as it is. They mean the same to the letter.
 *
 * @example
 * createProvider({ ...options, runtime: nodeRuntime })
 */
export const nodeRuntime: Partial<Runtime> = Object.freeze({
  ...nativeCrypto,
  Response: LightResponse as unknown as Runtime['Response'],
})
