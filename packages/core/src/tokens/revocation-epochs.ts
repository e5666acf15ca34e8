import { createBoundedMap } from '../bounded-map.ts'
import { maxLifetime } from '../config-schema.ts'
import { OAuthError } from '../errors/oauth-error.ts'
import { isObject, isString } from '../json.ts'
import { combined, type Lookup, markerAt } from '../records/envelope.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import { clockDifference, type Runtime, randomId } from '../runtime.ts'
import type { Json, JsonObject } from '../types.ts'
import { userSubOf } from './claims.ts'
import { type Revision, revocationMargin } from './revision.ts'

/** The epochs of a client and a subject. Absent: before any revocation. */
export interface Epochs {
  readonly client?: string
  readonly subject?: string
}

/** The epochs that a request or a decision carries: `null` before any revocation, `undefined` if it is not compared. */
type CarriedEpochs = { readonly [Kind in keyof Epochs]: string | null | undefined }

/**
 * Revokes everything that was issued to a client or subject so far. Each has one record with its epoch; a revocation
 * replaces the epoch, and tokens with another epoch, or none, are refused. It does not depend on clocks: earlier tokens
 * are refused despite clock skew, and tokens issued immediately afterwards are accepted.
 *
 * @see docs/decisions/0022-revocation-by-epochs.md
 */
export interface RevocationEpochs {
  /** Looks up the current epochs of a client and a subject. */
  current(clientId: string, sub: string | undefined): Lookup<Epochs>
  /** Looks up the same, and when the epochs began. */
  currentWithStart(clientId: string, sub: string | undefined): Lookup<DatedEpochs>
  /** Looks up the current epoch of a subject, and when it began. */
  ofSubject(sub: string): Lookup<DatedEpoch>
  /** Looks up the state of a client. */
  stateOf(clientId: string): Lookup<ClientState | undefined>
  /** Starts a new epoch. Resolves when the storage has made it durable. */
  begin(kind: keyof Epochs, name: string): Promise<void>
  /** Starts a new state of a client, in the same epoch. Resolves when the storage has made it durable. */
  renewClient(clientId: string): Promise<void>
  /** Returns a number that grows when this process starts an epoch of the subject. */
  lastBegun(sub: string): number
}

/** The current epoch of a subject or a client. */
export interface DatedEpoch {
  readonly epoch: string | undefined
  /** Epoch seconds of the revocation, by the clock of its server. `undefined` before any, and for one long ago. */
  readonly since: number | undefined
}

/** What a process that remembers a client compares: it is another one after a revocation, or a change that takes something away. */
export interface ClientState {
  readonly state: string
  /** Epoch seconds at which it began, by the clock of its server. */
  readonly since: number | undefined
}

export interface DatedEpochs {
  readonly epochs: Epochs
  /** That of the subject. */
  readonly since: number | undefined
  /** Absent before any revocation or change, and for one long ago. */
  readonly clientState: ClientState | undefined
}

interface EpochRecord {
  /** Absent if the client was only changed. */
  readonly epoch?: string
  /** Absent in the records of earlier versions. */
  readonly at?: number
  /** Random: that of the last change of the client since. */
  readonly change?: string
}

const isEpochRecord = (value: unknown): value is EpochRecord =>
  isObject(value) &&
  ('epoch' in value || 'change' in value) &&
  (!('epoch' in value) || isString(value.epoch)) &&
  (!('change' in value) || isString(value.change)) &&
  (!('at' in value) || typeof value.at === 'number')
/** The epoch of a record that cannot be read. No readable record contains it, so all earlier tokens are refused. */
const unreadable: EpochRecord = { epoch: '' }

/**
 * Returns why a token or grant with these epochs is refused, or `undefined` if it is not. An expired epoch record
 * refuses nothing: all older tokens have expired.
 */
export function outdated(carried: Epochs, current: Epochs): 'client_revoked' | 'subject_revoked' | undefined {
  if (current.client !== undefined && current.client !== carried.client) return 'client_revoked'
  if (current.subject !== undefined && current.subject !== carried.subject) return 'subject_revoked'
  return undefined
}

/**
 * Refuses a new grant whose user or client was revoked since. The grant must carry `current`: a later revocation reaches
 * the grant itself.
 *
 * @throws OAuthError `login_required` or `access_denied`.
 */
export function assertNotRevoked({ client, subject }: CarriedEpochs, current: Epochs): void {
  const isOutdated = (carried: string | null | undefined, now: string | undefined): boolean =>
    carried !== undefined && now !== undefined && now !== carried
  if (isOutdated(subject, current.subject)) {
    throw new OAuthError('login_required', 'The user must sign in again', { reason: 'subject_revoked' })
  }
  if (isOutdated(client, current.client)) {
    throw new OAuthError('access_denied', 'The client was revoked', { reason: 'client_revoked' })
  }
}

const clientStateOf = (record: EpochRecord | undefined): ClientState | undefined =>
  record && { state: `${record.epoch ?? ''}.${record.change ?? ''}`, since: record.at }

/** The epochs as token claims. Empty before any revocation, which is the usual case. */
export const epochClaims = ({ client, subject }: Epochs): JsonObject => ({
  ...(client !== undefined && { client_epoch: client }),
  ...(subject !== undefined && { sub_epoch: subject }),
})

/** The epochs as part of a grant record. Empty before any revocation. */
export const recordedEpochs = (epochs: Epochs): { readonly epochs?: Epochs } =>
  epochs.client === undefined && epochs.subject === undefined ? {} : { epochs }

const isAny = (_value: unknown): _value is unknown => true

const none: Epochs = Object.freeze({})

/** Returns a shared constant for the usual case without epochs. */
const epochsOf = (client: string | undefined, subject: string | undefined): Epochs =>
  client === undefined && subject === undefined
    ? none
    : { ...(client !== undefined && { client }), ...(subject !== undefined && { subject }) }

const stringOf = (claim: Json | undefined): string | undefined => (typeof claim === 'string' ? claim : undefined)

export function epochsIn({ client_epoch: client, sub_epoch: subject }: JsonObject): Epochs {
  return epochsOf(stringOf(client), stringOf(subject))
}

/**
 * Returns the epochs of a token that a grant issues in exchange for others. It inherits them from the first presented
 * token of the same client and of the same subject, so that it counts as old even if it is issued during the
 * revocation.
 *
 * @param presented claims of the tokens that the grant has validated
 */
export function inheritedEpochs(
  presented: readonly JsonObject[],
  clientId: string,
  sub: string | undefined,
  current: Epochs,
): Epochs {
  const ofClient = presented.find(({ client_id: clientOfToken }) => clientOfToken === clientId)
  const ofSubject = sub === undefined ? undefined : presented.find((claims) => userSubOf(claims) === sub)
  const client = ofClient === undefined ? current.client : epochsIn(ofClient).client
  const subject = ofSubject === undefined ? current.subject : epochsIn(ofSubject).subject
  return epochsOf(client, subject)
}

export function createRevocationEpochs(deps: {
  readonly issuer: string
  readonly store: Store
  readonly revision: Revision
  readonly runtime: Runtime
}): RevocationEpochs {
  const { issuer, store, revision, runtime } = deps
  // The key includes the issuer: two providers with the same storage may both have a client `web`.
  const keyFor = (kind: keyof Epochs, name: string): string =>
    keyOf('epoch', hashOf(JSON.stringify([issuer, kind, name]), runtime))
  // Cached, because there are few clients, and hashing is more than half of the cost of a read from an in-memory
  // storage.
  const clientKeys = createBoundedMap<string>(1000)
  /** By subject. */
  const begun = createBoundedMap<number>(1000)
  let beginnings = 0

  function keyOfClient(clientId: string): string {
    const known = clientKeys.get(clientId)
    if (known !== undefined) return known
    const key = keyFor('client', clientId)
    clientKeys.set(clientId, key)
    return key
  }

  const epochAt = (key: string) => markerAt(key, isEpochRecord, unreadable)
  const recordsOf = (clientId: string, sub: string | undefined) =>
    [epochAt(keyOfClient(clientId)), sub !== undefined && epochAt(keyFor('subject', sub))] as const

  return {
    current: (clientId, sub) =>
      combined(recordsOf(clientId, sub), ([client, subject]) => epochsOf(client?.epoch, subject?.epoch)),
    currentWithStart: (clientId, sub) =>
      combined(recordsOf(clientId, sub), ([client, subject]) => ({
        epochs: epochsOf(client?.epoch, subject?.epoch),
        since: subject?.at,
        clientState: clientStateOf(client),
      })),
    stateOf: (clientId) => combined([epochAt(keyOfClient(clientId))], ([record]) => clientStateOf(record)),
    ofSubject: (sub) =>
      combined([epochAt(keyFor('subject', sub))], ([subject]) => ({ epoch: subject?.epoch, since: subject?.at })),
    async begin(kind, name) {
      if (kind === 'subject') {
        beginnings += 1
        begun.set(name, beginnings)
      }
      const record = { epoch: randomId(runtime, 12), at: runtime.now() }
      const expiresAt = record.at + maxLifetime + revocationMargin
      await revision.replaceBeforeAndAfter(() => store.put(keyFor(kind, name), record, expiresAt))
    },
    async renewClient(clientId) {
      const key = keyOfClient(clientId)
      // A revocation that cannot be read must not be forgotten: another one refuses the same tokens.
      const marker = await store.getMarker(key, isEpochRecord, unreadable)
      await store.update(key, isAny, (stored) => {
        const present = isEpochRecord(stored) ? stored : marker
        const now = runtime.now()
        const epoch = present === unreadable ? randomId(runtime, 12) : present?.epoch
        return {
          value: { ...(epoch !== undefined && { epoch }), at: now, change: randomId(runtime, 12) },
          expiresAt: now + (epoch === undefined ? 2 * clockDifference : maxLifetime + revocationMargin),
        }
      })
    },
    lastBegun: (sub) => begun.get(sub) ?? 0,
  }
}
