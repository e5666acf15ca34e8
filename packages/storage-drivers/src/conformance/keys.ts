import { webRuntime } from '@grantry/core'

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** Returns an unused key in the format of the core. */
export const freshKey = (kind = 'code'): string => `${kind}:${hex(webRuntime.randomBytes(32))}`

/** Returns the key under which the core stores a credential. */
export const keyOf = (kind: string, credential: string): string =>
  `${kind}:${hex(webRuntime.sha256(new TextEncoder().encode(credential)))}`

/** Returns a record in the format of the core that contains `value`. */
export const recordOf = (value: unknown): string => JSON.stringify({ version: 1, expiresAt: 4_000_000_000, value })
