import { createBoundedMap } from '../bounded-map.ts'
import { maxLifetime } from '../config-schema.ts'
import { isNumber, isObject, isStringOrAbsent, isStrings, type Unchecked } from '../json.ts'
import { combined, type Lookup, markerAt } from '../records/envelope.ts'
import { keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import { clockDifference, type Runtime, randomId } from '../runtime.ts'
import { allOthers, type CurrentEpochs, clientIn, type Epochs, epochsOf, nameOf, withdrawalOf } from './epochs.ts'
import { type Revision, revocationMargin } from './revision.ts'

/**
 * Revokes everything that was issued to a client or subject so far. Each has one record with its epoch; a revocation
 * replaces the epoch, and tokens with another epoch, or none, are refused. It does not depend on clocks: earlier tokens
 * are refused despite clock skew, and tokens issued immediately afterwards are accepted. The record of a subject also has the
 * epochs of its withdrawals, so that they cost no further read.
 *
 * @see docs/decisions/0022-revocation-by-epochs.md
 */
export interface RevocationEpochs {
  /** Looks up the current epochs of a client and a subject, and of the clients that these epochs came from by exchange. */
  current(clientId: string, sub: string | undefined, carried?: Epochs): Lookup<DatedEpochs>
  /** Looks up the current epoch of a subject, and when it began. */
  ofSubject(sub: string): Lookup<DatedEpoch>
  /** Looks up the state of a client. */
  stateOf(clientId: string): Lookup<ClientState | undefined>
  /** Starts a new epoch. Resolves when the storage has made it durable. */
  begin(kind: 'client' | 'subject', name: string): Promise<void>
  /** Starts a new epoch, and returns it, if the present one is this one: `null` before any, as an expired one. */
  renew(kind: 'client' | 'subject', name: string, epoch: string | null): Promise<string | undefined>
  /** Starts a new epoch of what a subject lets a client have. Resolves when the storage has made it durable. */
  withdraw(sub: string, clientId: string): Promise<void>
  /** Starts a new state of a client, in the same epoch. Resolves when the storage has made it durable. */
  renewClient(clientId: string): Promise<void>
  /** The key of the epoch of a client: a hash. */
  keyOfClient(clientId: string): string
  /** Returns a number that grows when this process starts an epoch of the subject. */
  lastBegun(sub: string): number
}

/** The current epoch of a subject or a client. */
export interface DatedEpoch {
  readonly epoch: string | undefined
  /** Epoch seconds of the revocation, by the clock of its server. `undefined` before any, and for one long ago. */
  readonly since: number | undefined
}

/**
 * The value that a process compares before it uses a remembered client. It changes with each revocation, and with
 * each change that takes something away.
 */
export interface ClientState {
  readonly state: string
  /** Epoch seconds at which it began, by the clock of its server. */
  readonly since: number | undefined
}

export interface DatedEpochs extends CurrentEpochs {
  /** Epoch seconds at which the epoch of the subject began. */
  readonly since: number | undefined
  /** Absent before any revocation or change, and for one long ago. */
  readonly clientState: ClientState | undefined
}

interface EpochRecord {
  /** Absent if the client was only changed, or the subject has only withdrawn something. */
  readonly epoch?: string
  /** Absent in the records of earlier versions. */
  readonly at?: number
  /** Random: that of the last change of the client since. */
  readonly change?: string
  /** The epochs of the withdrawals of the subject since. Each begins with the name of its client (`nameOf`), or `allOthers`. */
  readonly withdrawn?: readonly string[]
}

/**
 * Beyond this number, the withdrawals of a subject become one for all clients, because forgetting a withdrawal would
 * give access back.
 */
const maxWithdrawals = 100

const isEpochRecord = (value: unknown): value is EpochRecord => {
  if (!isObject(value)) return false
  const { epoch, at, change, withdrawn } = value as Unchecked<EpochRecord>
  return (
    (epoch ?? change ?? withdrawn) !== undefined &&
    isStringOrAbsent(epoch) &&
    isStringOrAbsent(change) &&
    (at === undefined || isNumber(at)) &&
    (withdrawn === undefined || isStrings(withdrawn))
  )
}
/** The epoch of a record that cannot be read. No readable record contains it, so all earlier tokens are refused. */
const unreadable: EpochRecord = { epoch: '' }

const clientStateOf = (record: EpochRecord | undefined): ClientState | undefined =>
  record && { state: `${record.epoch ?? ''}.${record.change ?? ''}`, since: record.at }

/** Changes a record of epochs by what it contains, so that of concurrent changes none is lost. */
const createUpdateEpochs =
  ({
    store,
    runtime,
    newEpoch,
  }: {
    readonly store: Store
    readonly runtime: Runtime
    readonly newEpoch: () => string
  }) =>
  (
    key: string,
    next: (present: EpochRecord, now: number, epoch: string | undefined) => EpochRecord | undefined,
  ): Promise<void> => {
    const change = (present: EpochRecord | undefined) => {
      const now = runtime.now()
      // A revocation that cannot be read must not be forgotten: another one refuses the same tokens.
      const readable = present === unreadable ? { epoch: newEpoch(), at: now } : (present ?? {})
      const value = next(readable, now, present?.epoch)
      if (value === undefined) return undefined
      const endsTokens = (value.epoch ?? value.withdrawn) !== undefined
      return { value, expiresAt: now + (endsTokens ? maxLifetime + revocationMargin : 2 * clockDifference) }
    }
    return store.update(key, isEpochRecord, change, unreadable)
  }

/** Counts the epochs of subjects that this process starts. */
function createBeginnings() {
  const lastOf = createBoundedMap<number>(1000)
  let count = 0
  return {
    note(sub: string): void {
      count += 1
      lastOf.set(sub, count)
    },
    last: (sub: string): number => lastOf.get(sub) ?? 0,
  }
}

export function createRevocationEpochs(deps: {
  readonly issuer: string
  readonly store: Store
  readonly revision: Revision
  readonly runtime: Runtime
}): RevocationEpochs {
  const { issuer, store, revision, runtime } = deps
  // The key includes the issuer: two providers with the same storage may both have a client `web`.
  const keyFor = (kind: 'client' | 'subject', name: string): string =>
    keyOf('epoch', runtime.sha256Hex(JSON.stringify([issuer, kind, name])))
  // Cached, because there are few clients, and hashing is more than half of the cost of a read from an in-memory
  // storage.
  const clientKeys = createBoundedMap<string>(1000)

  function keyOfClient(clientId: string): string {
    const known = clientKeys.get(clientId)
    if (known !== undefined) return known
    const key = keyFor('client', clientId)
    clientKeys.set(clientId, key)
    return key
  }

  const begun = createBeginnings()
  const epochAt = (key: string) => markerAt(key, isEpochRecord, unreadable)
  const epochOf = (sub: string | undefined) => sub !== undefined && epochAt(keyFor('subject', sub))

  const newEpoch = (): string => randomId(runtime, 12)
  const update = createUpdateEpochs({ store, runtime, newEpoch })

  return {
    current(clientId, sub, { origins } = {}) {
      const ownKey = keyOfClient(clientId)
      const keys = origins === undefined ? [] : [...new Set(origins.map(clientIn))].filter((key) => key !== ownKey)
      return combined([epochOf(sub), epochAt(ownKey), ...keys.map(epochAt)], ([subject, client, ...ofClients]) => ({
        epochs: epochsOf(client?.epoch, subject?.epoch, withdrawalOf(ownKey, subject?.withdrawn)),
        since: subject?.at,
        clientState: clientStateOf(client),
        withdrawn: subject?.withdrawn,
        epochAt: (key) => (key === ownKey ? client : ofClients[keys.indexOf(key)])?.epoch,
      }))
    },
    stateOf: (clientId) => combined([epochAt(keyOfClient(clientId))], ([record]) => clientStateOf(record)),
    ofSubject: (sub) => combined([epochOf(sub)], ([subject]) => ({ epoch: subject?.epoch, since: subject?.at })),
    async begin(kind, name) {
      if (kind === 'subject') begun.note(name)
      const record = { epoch: newEpoch(), at: runtime.now() }
      const expiresAt = record.at + maxLifetime + revocationMargin
      await revision.replaceBeforeAndAfter(() => store.put(keyFor(kind, name), record, expiresAt))
    },
    async renew(kind, name, epoch) {
      if (kind === 'subject') begun.note(name)
      let renewed: string | undefined
      await revision.replaceBeforeAndAfter(() =>
        update(keyFor(kind, name), (_, at, present) => {
          renewed = (present ?? epoch) === epoch ? newEpoch() : undefined
          return renewed === undefined ? undefined : { epoch: renewed, at }
        }),
      )
      return renewed
    },
    async withdraw(sub, clientId) {
      const name = nameOf(keyOfClient(clientId))
      await revision.replaceBeforeAndAfter(() =>
        update(keyFor('subject', sub), (present) => {
          const others = (present.withdrawn ?? []).filter((epoch) => !epoch.startsWith(name))
          const isFull = others.length >= maxWithdrawals
          const withdrawn = isFull ? [allOthers + newEpoch()] : [...others, name + newEpoch()]
          return { ...present, withdrawn }
        }),
      )
    },
    renewClient: (clientId) =>
      update(keyOfClient(clientId), (present, now) => ({ ...present, at: now, change: newEpoch() })),
    keyOfClient,
    lastBegun: begun.last,
  }
}
