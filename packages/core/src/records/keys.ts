/**
 * The kinds of records, and what becomes of them when an operator has restored an old copy of the storage. A record key
 * is the kind, a colon, and the lower-case hex SHA-256 of the lookup value, such as a token. The key of a `spent` marker,
 * and that of a stored grant of another kind than `code` and `refresh`, has the kind of the credential in between.
 *
 * * `removed`: it gives access, or could be used a second time: in the copy, what was spent later is not spent.
 * * `kept`: it is an entry, forbids something, or counts.
 * * `marked`: kept if the plugin has marked it (`keptAfterRestore`).
 *
 * @see docs/decisions/0176-what-survives-a-restore.md
 */
export const recordKinds = {
  code: 'removed',
  refresh: 'removed',
  grant: 'removed',
  access: 'removed',
  // With these keys, tokens that were revoked later would be valid again.
  keys: 'removed',
  replay: 'removed',
  probe: 'removed',
  spent: 'kept',
  revoked: 'kept',
  denied: 'kept',
  epoch: 'kept',
  revision: 'kept',
  failure: 'kept',
  passed: 'kept',
  known: 'kept',
  count: 'kept',
  entry: 'kept',
  entries: 'kept',
  plugin: 'marked',
} as const satisfies Readonly<Record<string, 'removed' | 'kept' | 'marked'>>

export type RecordKind = keyof typeof recordKinds

/**
 * The key of a record.
 *
 * @param hash that of the lookup value, by `sha256Hex` of the runtime: no credential is stored, and a driver cannot
 * normalize, case-fold or trim the key
 */
export const keyOf = (kind: RecordKind, hash: string): string => `${kind}:${hash}`

/** The key of a spent marker. Includes the kind, so that the kinds have separate namespaces. */
export const spentKeyOf = (kind: string, hash: string): string => keyOf('spent', `${kind}:${hash}`)

/** Eight hex digits that identify a credential in events without revealing it. */
export const fingerprintOf = (hash: string): string => hash.slice(0, 8)
