import type { Runtime } from '../runtime.ts'

/**
 * The kinds of records. The key of a record is its kind, a colon, and the lower-case hex SHA-256 of what it is found by; that of a `spent` marker
 * names the kind of what was spent in between.
 */
export type RecordKind =
  | 'code'
  | 'refresh'
  | 'access'
  | 'spent'
  | 'replay'
  | 'revoked'
  | 'denied'
  | 'epoch'
  | 'failure'
  | 'keys'
  | 'known'
  | 'count'
  | 'plugin'

/** No credential is at rest, and nothing in a key is left for a driver to normalise, fold or trim. */
export const hashOf = (credential: string, runtime: Runtime): string => runtime.sha256Hex(credential)

export const keyOf = (kind: RecordKind, hash: string): string => `${kind}:${hash}`

/** Eight hex digits that name a credential in events without giving it away. */
export const fingerprintOf = (hash: string): string => hash.slice(0, 8)
