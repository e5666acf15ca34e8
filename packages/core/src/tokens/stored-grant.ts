import { createBoundedMap } from '../bounded-map.ts'
import { maxLifetime } from '../config-schema.ts'
import type { Client } from '../directory/client.ts'
import type { ClientDirectory } from '../directory/client-directory.ts'
import type { Recorder, Trace } from '../events/recorder.ts'
import { existenceAt, type Lookup, markerAt, recordAt } from '../records/envelope.ts'
import { fingerprintOf, keyOf, spentKeyOf } from '../records/keys.ts'
import {
  type GrantRecord,
  isGrantRecord,
  isSpentRecord,
  type RevokedRecord,
  type SpentRecord,
  unreadableMarker,
} from '../records/schemas.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import { outdated } from './epochs.ts'
import { type Revision, revocationMargin } from './revision.ts'
import type { ClientState, RevocationEpochs } from './revocation-epochs.ts'

/** Revokes all tokens of one authorization with one record, including tokens that are being issued at the same time. */
export interface Families {
  /** Returns the fingerprint of the family for an event; an empty object if there is no family or no observer. */
  describe(family: string | undefined): { readonly family?: string }
  /** Looks up whether the family is revoked. */
  revocationOf(family: string): Lookup<boolean>
  /**
   * Revokes the family of a code or refresh token of this client. Resolves when the storage has made the record
   * durable.
   */
  revoke(record: GrantRecord, client: Client, reason: string, trace: Trace): Promise<void>
  /** Revokes a family of which only the id is known, for as long as any token can be valid. */
  revokeByName(family: string, reason: string, trace: Trace): Promise<void>
  /**
   * Writes the record of a revoked family again, and replaces the revision: the process that wrote the record may have
   * crashed before it was durable, or before it replaced the revision.
   */
  confirm(record: GrantRecord): Promise<void>
}

/** Seconds for which access and identity tokens of this client can be valid. */
export const maxTokenLifetime = ({ accessTokenLifetime, identityTokenLifetime }: Client): number =>
  Math.max(accessTokenLifetime, identityTokenLifetime)

/** The number of families whose fingerprints are kept: more than concurrent requests. */
const maxDescribed = 512

export function createFamilies(deps: {
  readonly store: Store
  readonly revision: Revision
  readonly runtime: Runtime
  readonly recorder: Recorder
}): Families {
  const { store, revision, runtime, recorder } = deps
  /** Fingerprints by family: the events of one request have the same, and a hash takes a microsecond. */
  const described = createBoundedMap<{ readonly family: string }>(maxDescribed)

  function describe(family: string | undefined): { readonly family?: string } {
    if (family === undefined || !recorder.observed) return {}
    const known = described.get(family)
    if (known !== undefined) return known
    const description = { family: fingerprintOf(runtime.sha256Hex(family)) }
    described.set(family, description)
    return description
  }

  const keyOfFamily = (family: string): string => keyOf('revoked', runtime.sha256Hex(family))

  /** Creates the record of a revoked family. Returns `true` if it did not exist. */
  async function insertRevoked(family: string, lastEnd: number, reason: string): Promise<boolean> {
    const revoked: RevokedRecord = { revokedAt: runtime.now(), reason }
    return store.insert(keyOfFamily(family), revoked, lastEnd + revocationMargin)
  }

  /** @param lastEnd epoch seconds after which no token of the family is valid */
  async function revokeUntil(family: string, lastEnd: number, reason: string, trace: Trace): Promise<void> {
    // Even if the record exists: the process that wrote it may have crashed before the second replacement.
    const isNew = await revision.replaceBeforeAndAfter(() => insertRevoked(family, lastEnd, reason))
    if (isNew) recorder.record(trace, { type: 'family_revoked', reason, ...describe(family) })
  }

  return {
    describe,
    revocationOf: (family) => existenceAt(keyOfFamily(family)),
    async revoke({ family, keptUntil }, client, reason, trace) {
      // A successor may be valid longer than this record expects, because the configured lifetimes can have been
      // increased.
      const { absoluteLifetime } = client.refreshToken
      const lastEnd = Math.max(keptUntil, runtime.now() + absoluteLifetime + maxTokenLifetime(client))
      await revokeUntil(family, lastEnd, reason, trace)
    },
    revokeByName: (family, reason, trace) => revokeUntil(family, runtime.now() + maxLifetime, reason, trace),
    async confirm({ family, keptUntil }) {
      await revision.replaceBeforeAndAfter(() => insertRevoked(family, Math.max(keptUntil, runtime.now()), 'confirmed'))
    },
  }
}

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
    const hash = runtime.sha256Hex(credential)
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
        revocationEpochs.current(record.clientId, record.subject.sub, record.epochs),
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
