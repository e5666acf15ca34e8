import type { Runtime } from '../runtime.ts'

/**
 * The kinds of records. A record key is the kind, a colon, and the lower-case hex SHA-256 of the lookup value, such as
 * a token. The key of a `spent` marker, and that of a stored grant of another kind than `code` and `refresh`, has the
 * kind of the credential in between.
 */
export type RecordKind =
  | 'code'
  | 'refresh'
  | 'grant'
  | 'access'
  | 'spent'
  | 'replay'
  | 'revoked'
  | 'denied'
  | 'epoch'
  | 'revision'
  | 'failure'
  | 'passed'
  | 'keys'
  | 'known'
  | 'count'
  | 'entry'
  | 'entries'
  | 'plugin'

/**
 * Hashes a credential for a record key. No credential is stored, and a driver cannot normalize, case-fold or trim the
 * key.
 */
export const hashOf = (credential: string, runtime: Runtime): string => runtime.sha256Hex(credential)

export const keyOf = (kind: RecordKind, hash: string): string => `${kind}:${hash}`

/** Eight hex digits that identify a credential in events without revealing it. */
export const fingerprintOf = (hash: string): string => hash.slice(0, 8)
