import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'

/** A session that has ended, and the clients that are not notified yet. */
export interface Logout {
  readonly sub: string
  readonly sid: string
  readonly clientIds: readonly string[]
}

const schema = v.object({
  sub: v.string(),
  sid: v.string(),
  clientIds: v.array(v.string()),
  /** The number of attempts that have begun. */
  attempts: v.number(),
  /** When the next attempt begins (epoch seconds). */
  due: v.number(),
  expiresAt: v.number(),
})
type Item = v.InferOutput<typeof schema>

/** Sends a logout to clients. Returns those that have not confirmed it. */
export type SendLogout = (kit: EndpointKit, logout: Logout) => Promise<readonly string[]>

export interface LogoutQueue {
  /** Stores a logout. Returns a function that sends it, which never rejects. */
  add(kit: EndpointKit, logout: Logout): Promise<() => Promise<void>>
  /** Sends what is due, also of other processes. @throws Error that names the clients that were given up. */
  sendDue(kit: EndpointKit): Promise<void>
}

/** Seconds from one attempt to the next. After the last one, the logout is given up. */
const delays = [10, 60, 300, 1800] as const
const maxAttempts = delays.length + 1

/** Seconds after which a logout that no process could send is given up. */
const lifetime = 43_200

/** Seconds of a bucket. Logouts are found by the time at which they were stored, and a number. */
const bucketLength = 60
/** Seconds in which a process writes a logout after it has drawn its number. */
const writeTime = 60
/** Seconds after which a run begins no more attempts, so that a server can stop. The next run continues. */
const longestRun = 15
/** Logouts of one bucket that are sent at the same time. */
const concurrency = 32

const isPresent = v.boolean()
const markKey = (bucket: number): string => `logouts:${bucket}`
const itemKey = (bucket: number, number: number): string => `logout:${bucket}:${number}`

/** What a process knows about a bucket that is over: the numbers of its open logouts. */
type ClosedBuckets = Map<number, ReadonlySet<number>>

async function inChunks<T>(values: readonly T[], size: number, act: (value: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < values.length; start += size) {
    await Promise.all(values.slice(start, start + size).map(act))
  }
}

/** Returns the numbers of a bucket that can have items. */
async function numbersIn(kit: EndpointKit, bucket: number): Promise<readonly number[]> {
  if ((await kit.records.get(markKey(bucket), isPresent)) === undefined) return []
  // A counter can only be incremented, not read. No logout has the number that this call draws.
  const next = await kit.records.increment(markKey(bucket), kit.now() + lifetime)
  return Array.from({ length: next - 1 }, (_, index) => index + 1)
}

/** Creates the attempts to send an item. */
function createAttempts(send: SendLogout, timeout: number) {
  /** Sends an item whose attempt is stored. Returns the clients that are given up. */
  async function attempt(kit: EndpointKit, key: string, item: Item): Promise<readonly string[]> {
    const clientIds = [...(await send(kit, item))]
    if (clientIds.length > 0 && item.attempts < maxAttempts) {
      await kit.records.put(key, { ...item, clientIds }, item.expiresAt)
      return []
    }
    await kit.records.delete(key)
    return clientIds
  }

  const dueAfter = (attempts: number, now: number): number => now + (delays[attempts - 1] ?? 0) + Math.ceil(timeout)

  /** Sends an item if it is due, and if no other process does. Returns the clients that are given up. */
  async function sendIfDue(kit: EndpointKit, key: string, item: Item, until: number): Promise<readonly string[]> {
    const now = kit.now()
    if (now < item.due || now > until) return []
    // The key contains the minute, because the process that has claimed the item can die.
    const claim = `claim:${key}:${item.attempts}:${Math.floor(now / 60)}`
    if (!(await kit.records.insert(claim, true, now + 120))) return []
    if (item.attempts >= maxAttempts) {
      // The process of the last attempt has died.
      await kit.records.delete(key)
      return item.clientIds
    }
    const attempts = item.attempts + 1
    const next = { ...item, attempts, due: dueAfter(attempts, now) }
    // Stored before the attempt, which counts even if the process dies.
    await kit.records.put(key, next, item.expiresAt)
    return attempt(kit, key, next)
  }

  return { attempt, sendIfDue, dueAfter }
}

/**
 * A queue in the records of the plugin. A store cannot list its records, so their keys contain the minute and a number
 * from a counter. The task of every process reads the minutes of the last 12 hours once, and afterwards only the current
 * ones and those with open logouts.
 *
 * @param timeout seconds after which `send` has a result
 */
export function createLogoutQueue(send: SendLogout, timeout: number): LogoutQueue {
  const { attempt, sendIfDue, dueAfter } = createAttempts(send, timeout)
  const known = new WeakMap<EndpointKit, ClosedBuckets>()

  /** Returns the clients that are given up. */
  async function sendBucket(
    kit: EndpointKit,
    bucket: number,
    { closed, until }: { readonly closed: ClosedBuckets; readonly until: number },
  ): Promise<readonly string[]> {
    const numbers = closed.get(bucket) ?? (await numbersIn(kit, bucket))
    const open = new Set<number>()
    const givenUp: string[] = []
    await inChunks([...numbers], concurrency, async (number) => {
      const item = await kit.records.get(itemKey(bucket, number), schema)
      if (item === undefined) return
      open.add(number)
      givenUp.push(...(await sendIfDue(kit, itemKey(bucket, number), item, until)))
    })
    if (kit.now() >= (bucket + 1) * bucketLength + writeTime) closed.set(bucket, open)
    return givenUp
  }

  return {
    async add(kit, { sub, sid, clientIds }) {
      const now = kit.now()
      const expiresAt = now + lifetime
      const bucket = Math.floor(now / bucketLength)
      const [number] = await Promise.all([
        kit.records.increment(markKey(bucket), expiresAt),
        kit.records.put(markKey(bucket), true, expiresAt),
      ])
      const item = { sub, sid, clientIds: [...clientIds], attempts: 1, due: dueAfter(1, now), expiresAt }
      const key = itemKey(bucket, number)
      await kit.records.put(key, item, expiresAt)
      return async () => {
        try {
          await attempt(kit, key, item)
        } catch {
          // The storage fails. The item is still due.
        }
      }
    },

    async sendDue(kit) {
      const closed = known.get(kit) ?? new Map()
      known.set(kit, closed)
      const now = kit.now()
      const until = now + longestRun
      const current = Math.floor(now / bucketLength)
      const first = current - lifetime / bucketLength
      for (const bucket of closed.keys()) if (bucket < first) closed.delete(bucket)
      const buckets = Array.from({ length: current - first + 1 }, (_, index) => first + index)
      const unfinished = buckets.filter((bucket) => closed.get(bucket)?.size !== 0)
      const givenUp: string[] = []
      await inChunks(unfinished, 100, async (bucket) => {
        givenUp.push(...(await sendBucket(kit, bucket, { closed, until })))
      })
      if (givenUp.length === 0) return
      const names = [...new Set(givenUp)].join(', ')
      throw new Error(`No logout token could be delivered in ${maxAttempts} attempts; clients: ${names}`)
    },
  }
}
