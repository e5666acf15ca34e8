import type { ClientDirectory } from '../directory/clients.ts'
import { markerAt, recordAt } from '../records/envelope.ts'
import { hashOf, keyOf, spentKeyOf } from '../records/keys.ts'
import {
  type GrantRecord,
  isGrantRecord,
  isSpentRecord,
  type SpentRecord,
  unreadableMarker,
} from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { Families } from './family.ts'
import type { Revision } from './revision.ts'
import { type ClientState, outdated, type RevocationEpochs } from './revocation-epochs.ts'

/** The record of a stored grant, whether it can still be redeemed or not. */
export interface StoredRecord {
  readonly hash: string
  readonly record: GrantRecord
  readonly spent: SpentRecord | undefined
  /** The revision that was read together with the record. */
  readonly revision: string | undefined
  /** The state of the client that presents the credential, read together with the record, if clients can change. */
  readonly clientState?: ClientState | undefined
}

/** Looks up stored grants without spending them. */
export interface StoredGrants {
  find(kind: string, credential: string): Promise<StoredRecord | undefined>
  /**
   * Returns the record if it can be redeemed or is a replay; `undefined` if it is unknown, expired or revoked.
   *
   * @param clientId the client that presents the credential
   */
  redeemable(kind: string, credential: string, clientId: string): Promise<StoredRecord | undefined>
}

export const grantKeyOf = (kind: string, hash: string): string =>
  kind === 'code' || kind === 'refresh' ? keyOf(kind, hash) : keyOf('grant', `${kind}:${hash}`)

/** Characters. A longer credential is not hashed. */
const maxCredentialLength = 512

export function createStoredGrants(deps: {
  readonly issuer: string
  readonly store: Store
  readonly clients: Pick<ClientDirectory, 'hasUnlisted'>
  readonly families: Families
  readonly revocationEpochs: RevocationEpochs
  readonly revision: Revision
  readonly runtime: Runtime
}): StoredGrants {
  const { issuer, store, clients, families, revocationEpochs, revision, runtime } = deps

  async function find(kind: string, credential: string, clientId?: string): Promise<StoredRecord | undefined> {
    if (credential.length > maxCredentialLength) return undefined
    const hash = hashOf(credential, runtime)
    const [record, spent, current, clientState] = await store.getAll([
      recordAt(grantKeyOf(kind, hash), isGrantRecord),
      markerAt(spentKeyOf(kind, hash), isSpentRecord, unreadableMarker),
      revision.current,
      // A list never changes.
      clients.hasUnlisted && clientId !== undefined && revocationEpochs.stateOf(clientId),
    ])
    // Rejects a record that was copied to another key, or that belongs to another provider with the same storage.
    if (record === undefined || record.kind !== kind || record.issuer !== issuer) return undefined
    return { hash, record, spent, revision: current, clientState }
  }

  async function redeemable(kind: string, credential: string, clientId: string): Promise<StoredRecord | undefined> {
    const stored = await find(kind, credential, clientId)
    if (stored === undefined) return undefined
    const { record, spent } = stored
    const isCurrent = record.revision !== undefined && record.revision === stored.revision
    if (!isCurrent) {
      const [revoked, epochs] = await store.getAll([
        families.revocationOf(record.family),
        revocationEpochs.current(record.clientId, record.subject.sub),
      ])
      if (revoked) await families.confirm(record)
      if (revoked || outdated(record.epochs ?? {}, epochs) !== undefined) return undefined
    }
    // A record outlives its credential, so that a late replay is still detected.
    if (spent === undefined && record.redeemableUntil <= runtime.now()) return undefined
    return stored
  }

  return { find: (kind, credential) => find(kind, credential), redeemable }
}
