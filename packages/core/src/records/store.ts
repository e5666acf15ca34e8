import { after, allOf } from '../promises.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import { commitInOrder } from './commit-in-order.ts'
import type { AtomicDriver } from './driver.ts'
import { createDriverCalls, failed, textOf } from './driver-calls.ts'
import {
  createRecordReader,
  keysOf,
  type Lookups,
  type NewRecord,
  parseEnvelope,
  type RecordCheck,
  type RecordOptions,
  type RecordReader,
  type RecordRejection,
  type ResultsOf,
  resultsOf,
} from './envelope.ts'

/** Records that are written together. */
export interface RecordChanges {
  /** Records that must not exist yet. A random value in each distinguishes it from that of another commit. */
  readonly create?: readonly NewRecord[] | undefined
  readonly put?: readonly NewRecord[] | undefined
  /** The keys of the records to remove. */
  readonly remove?: readonly string[] | undefined
}

/**
 * The record store. Every method rejects with `temporarily_unavailable` when the driver fails or times out. The result
 * is synchronous if that of the driver is: a promise costs more than an in-memory lookup.
 */
export interface Store {
  /** Returns `undefined` if the record is absent, has expired by the provider's clock, or does not pass the check. */
  get<T>(key: string, check: RecordCheck<T>): MaybePromise<T | undefined>
  /**
   * Whether an unexpired record exists. A record that cannot be parsed counts as existing: use it for markers that
   * forbid something.
   */
  has(key: string): MaybePromise<boolean>
  /** Like `get`, for markers that forbid something: returns `unreadable` if the record exists but cannot be parsed. */
  getMarker<T>(key: string, check: RecordCheck<T>, unreadable: T): MaybePromise<T | undefined>
  /** Performs several lookups in one trip, if the driver has `getItems()`. */
  getAll<const L extends Lookups>(lookups: L): MaybePromise<ResultsOf<L>>
  /** Whether the driver still has a record that has expired by the provider's clock. */
  hasExpired(key: string): MaybePromise<boolean>
  /**
   * @param expiresAt epoch seconds
   * @param options for records of plugins only
   */
  put(key: string, value: unknown, expiresAt: number, options?: RecordOptions): MaybePromise<void>
  /** Creates the record only if it is absent. Returns `true` if this call created it. Atomic across processes. */
  insert(key: string, value: unknown, expiresAt: number, options?: RecordOptions): MaybePromise<boolean>
  /**
   * Increments a counter and returns its new value, which no other call returns. Counters expire by the driver's clock,
   * not by the provider's, so a new counting period needs a new key.
   */
  increment(key: string, expiresAt: number): MaybePromise<number>
  delete(key: string): MaybePromise<void>
  readonly update: UpdateRecord
  /**
   * Performs all changes, or none if a record in `create` exists. Returns keys of those that exist. Atomic across
   * processes, also in a crash, if the driver has `commit()`.
   */
  commit(changes: RecordChanges): MaybePromise<readonly string[]>
  /** Whether the storage can be read, and, after a failed write, written. Never rejects. */
  isReady(): Promise<boolean>
}

const noKeys = (): Error => new Error('commit() of the storage returned neither true nor the keys that exist')

/**
 * @param timeLimit seconds after which an operation counts as failed.
 * @param onRejected called for a record that is treated as absent, with its kind (the first part of the key) and the
 * reason.
 */
export function openStore(
  driver: AtomicDriver,
  deps: {
    readonly runtime: Runtime
    readonly timeLimit: number
    readonly onRejected: (kind: string, reason: RecordRejection) => void
  },
): Store {
  const { runtime, timeLimit, onRejected } = deps
  const reader = createRecordReader(runtime, onRejected)
  const calls = createDriverCalls(driver, { runtime, timeLimit })
  const { read, readAll, itemOf, setItem, insertItem, removeItem } = calls
  return {
    get: (key, check) => after(read(key), (stored) => reader.recordIn(key, stored, check, undefined)),
    has: (key) => after(read(key), (stored) => reader.isIn(key, stored)),
    getMarker: (key, check, unreadable) =>
      after(read(key), (stored) => reader.recordIn(key, stored, check, unreadable)),
    getAll: (lookups) => after(readAll(keysOf(lookups)), (stored) => resultsOf(lookups, stored, 0, reader)),
    hasExpired: (key) =>
      after(read(key), (stored) => {
        const envelope = parseEnvelope(stored)
        return typeof envelope !== 'string' && envelope.expiresAt <= runtime.now()
      }),
    put: (key, value, expiresAt, options) => setItem(itemOf({ key, value, expiresAt, ...options })),
    insert: (key, value, expiresAt, options) => insertItem(itemOf({ key, value, expiresAt, ...options })),
    increment: calls.increment,
    delete: removeItem,
    update: createUpdate({ calls, reader, runtime }),
    commit({ create = [], put = [], remove = [] }) {
      const changes = { create: create.map(itemOf), put: put.map(itemOf), remove }
      // One write is atomic by itself, and costs less than a transaction.
      const isOne = create.length + put.length + remove.length <= 1
      if (isOne && create.length === 0)
        return after(allOf([...changes.put.map(setItem), ...remove.map(removeItem)]), () => [])
      if (isOne || driver.commit === undefined) return commitInOrder(changes, calls)
      const performed = calls.write(() => driver.commit?.(changes))
      return after(performed, (outcome) => {
        if (outcome === true) return []
        const existing = create.flatMap(({ key }) => (Array.isArray(outcome) && outcome.includes(key) ? [key] : []))
        if (existing.length === 0) return failed(noKeys())
        return after(allOf(changes.create.map(calls.isStored)), (stored) => (stored.every(Boolean) ? [] : existing))
      })
    },
    isReady: calls.isReady,
  }
}

/** The new value of a record, and its end (epoch seconds). */
interface ChangedRecord<T> extends RecordOptions {
  readonly value: T
  readonly expiresAt: number
}

type Change<T> = (present: T | undefined) => ChangedRecord<T> | undefined

/**
 * Changes a record by what it contains, so that of concurrent changes each is applied to the result of another.
 *
 * @param change is called again when another call has changed the record meanwhile. It has no effects. `undefined` keeps
 * the record as it is
 * @param unreadable what `change` receives for a record that exists but cannot be parsed. Default: `undefined`
 * @throws OAuthError `temporarily_unavailable` (503) when other calls change the record all the time
 */
type UpdateRecord = <T>(key: string, check: RecordCheck<T>, change: Change<T>, unreadable?: T) => Promise<void>

/** Each repetition means that another change succeeded. */
const maxTries = 100

/** Milliseconds. */
const longestPause = 100

/** Milliseconds that changes of one record in this process wait for each other. */
const maxTurnWait = 2000

/** Waits for a random time: of changes that repeat in step, the same ones would win each time. */
const pauseAfter = (tries: number, runtime: Pick<Runtime, 'randomBytes'>): Promise<void> =>
  new Promise((resolve) => {
    const [byte = 0] = runtime.randomBytes(1)
    setTimeout(resolve, (byte / 256) * Math.min(2 ** tries, longestPause))
  })

/** Runs tasks with the same key one after the other. */
export interface Turns {
  /** The number of keys with tasks in progress. */
  readonly size: number
  /** Runs a task when the earlier ones with this key have ended, or after the time limit. */
  take(key: string, task: () => Promise<void>): Promise<void>
}

/** Resolves when a task has ended, with any outcome, or after a time limit. */
const settled = (task: Promise<void>, limit: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, limit)
    const end = (): void => {
      clearTimeout(timer)
      resolve()
    }
    task.then(end, end)
  })

/**
 * For tasks that may also run at the same time, but are slower then. A task that hangs, or that a runtime has
 * abandoned together with its request, delays another one once.
 *
 * @param limit milliseconds that a task waits at most
 */
export function createTurns(limit: number): Turns {
  // The last task of each key, which is removed with it: memory use is proportional to the tasks in progress.
  const last = new Map<string, Promise<void>>()
  return {
    get size() {
      return last.size
    },
    async take(key, task) {
      const earlier = last.get(key)
      const current = earlier === undefined ? task() : settled(earlier, limit).then(task)
      last.set(key, current)
      try {
        await current
      } finally {
        if (last.get(key) === current) last.delete(key)
      }
    },
  }
}

interface UpdateDeps {
  readonly calls: ReturnType<typeof createDriverCalls>
  readonly reader: RecordReader
  readonly runtime: Pick<Runtime, 'randomBytes'>
}

function createUpdate({ calls, reader, runtime }: UpdateDeps): UpdateRecord {
  // Callers of this process change a record in the order of their arrival. Only one of them competes with other processes.
  const turns = createTurns(maxTurnWait)

  async function attempt<T>(key: string, check: RecordCheck<T>, change: Change<T>, unreadable?: T): Promise<boolean> {
    const stored = await calls.read(key)
    const changed = change(await reader.recordIn(key, stored, check, unreadable))
    if (changed === undefined) return true
    const item = calls.itemOf({ key, ...changed })
    return stored === undefined || stored === null ? calls.insertItem(item) : calls.replaceItem(item, textOf(stored))
  }

  return (key, check, change, unreadable) =>
    turns.take(key, async () => {
      for (let tries = 1; !(await attempt(key, check, change, unreadable)); tries += 1) {
        if (tries === maxTries) return failed(new Error('Other requests change the record all the time'))
        await pauseAfter(tries, runtime)
      }
    })
}
