import { webRuntime } from '@grantry/core'

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')

/** A key that was never used, as the core writes them. */
export const freshKey = (kind = 'code'): string => `${kind}:${hex(webRuntime.randomBytes(32))}`

/** The key under which the core keeps what belongs to a credential. */
export const keyOf = (kind: string, credential: string): string =>
  `${kind}:${hex(webRuntime.sha256(new TextEncoder().encode(credential)))}`

/** A record as the core writes it, with something inside that tells it from others. */
export const recordOf = (value: unknown): string => JSON.stringify({ version: 1, expiresAt: 4_000_000_000, value })
