import type { ClientOptions, EndpointKit } from '@grantry/core'
import * as v from 'valibot'

/**
 * Seconds for which servers must have run without a client before everything of the client ends. A rollout takes less
 * time.
 */
const grace = 2 * 3600
/** Seconds between two comparisons. */
export const interval = 600
/** Seconds, about ten years: longer than anything that is issued to a client. */
const lifetime = 315_360_000
/** Seconds, 400 days, after which the clients of a tenant that no server lists are forgotten. */
const unlistedLifetime = 34_560_000
/** Seconds for which an epoch that was read can be noted. */
const noteLimit = 60

const missingSchema = v.object({
  /** Seconds for which servers have run without the client. */
  seconds: v.number(),
  /** Epoch seconds of the last comparison by a server without the client. */
  at: v.number(),
  /** The epoch that ends, which was read when the end was due; `null` before any. */
  epoch: v.exactOptional(v.nullable(v.string())),
})

const schema = v.array(
  v.object({
    id: v.string(),
    /** Absent while every server has the client. */
    missing: v.exactOptional(missingSchema),
    /** Epoch seconds since which servers cannot tell whether the client is missing. */
    unlisted: v.exactOptional(v.number()),
  }),
)

/** Returns the ids of clients of the configuration. The provider is created later, and refuses a malformed one with its path. */
export const idsOf = (clients: readonly (ClientOptions | null)[]): readonly string[] =>
  clients.flatMap((client) => (typeof client?.clientId === 'string' ? [client.clientId] : []))

type Known = v.InferOutput<typeof schema>
type KnownClient = Known[number]

/** The clients that a server has, and a function that decides which other clients it knows to be missing. */
export interface Present {
  readonly ids: ReadonlySet<string>
  isMissing(id: string): boolean
}

/**
 * Adds the time since the last comparison, at most two intervals: a stop of all servers, an outage and a wrong clock
 * must not count.
 */
function longer({ id, missing = { seconds: 0, at: Number.POSITIVE_INFINITY } }: KnownClient, now: number): KnownClient {
  const seconds = missing.seconds + Math.min(Math.max(now - missing.at, 0), 2 * interval)
  return { id, missing: { ...missing, seconds, at: now } }
}

const isDue = ({ missing }: KnownClient): boolean => missing !== undefined && missing.seconds >= grace

/** Returns a client that this server does not have, as it is known from now on. */
function absent(client: KnownClient, isMissing: boolean, now: number): KnownClient | [] {
  if (isMissing) return longer(client, now)
  const { unlisted = now } = client
  return now - unlisted > unlistedLifetime ? [] : { ...client, unlisted }
}

/** Returns the next record. A server that has a client proves that it is not missing, unless its end is due. */
function withPresent(known: Known, { ids, isMissing }: Present, now: number): Known {
  const kept = known.filter((client) => !ids.has(client.id) || isDue(client))
  const keptIds = new Set(kept.map(({ id }) => id))
  return [
    ...[...ids].filter((id) => !keptIds.has(id)).map((id) => ({ id })),
    ...kept.flatMap((client) => (ids.has(client.id) ? client : absent(client, isMissing(client.id), now))),
  ].sort((left, right) => (left.id < right.id ? -1 : 1))
}

/** The functions that end everything of a client in its provider. */
export interface ClientEnd {
  /** Returns the present epoch of the client; `null` before any. */
  epochOf(id: string): Promise<string | null>
  /** Ends what belongs to this epoch, unless the client has another one by now. */
  endEpoch(id: string, epoch: string | null): Promise<void>
}

export interface Ended {
  /** The ids of those that are still due. */
  readonly left: readonly string[]
  readonly failures: readonly unknown[]
}

/** The record of the clients of all servers. */
export interface KnownClients {
  /** The ids of clients whose end is due; a new set after each change. `undefined` before the first comparison. */
  readonly due: ReadonlySet<string> | undefined
  /** Compares the clients of this server with the record. */
  compare(kit: EndpointKit): Promise<void>
  /** Compares, unless that has succeeded before: once for all callers. */
  compareOnce(kit: EndpointKit): Promise<void>
  /**
   * Ends the clients that are due, unless that has changed: another server may have ended one, and a client that is
   * back must keep what it got since. Several servers can end one client at the same time. The epoch of the client is
   * noted in the record first, and only this epoch ends, so that only the first of several ends has an effect.
   */
  end(kit: EndpointKit, isWanted: (id: string) => boolean, client: ClientEnd): Promise<Ended>
}

type Change = (kit: EndpointKit, next: (stored: Known) => Known) => Promise<Known>

/** Creates the function that changes the record. */
const createChange =
  (key: string): Change =>
  async ({ records, now }, next) => {
    let value: Known = []
    await records.update(key, schema, (stored = []) => {
      value = next(stored)
      // Writes the record only if it differs.
      const isSame = JSON.stringify(value) === JSON.stringify(stored)
      return isSame ? undefined : { value, expiresAt: now() + lifetime, keptAfterRestore: true }
    })
    return value
  }

/** Notes the epochs that end, and returns those that are noted of clients that are still due. */
async function noted(
  kit: EndpointKit,
  ids: readonly string[],
  { epochOf }: ClientEnd,
  change: Change,
): Promise<ReadonlyMap<string, string | null>> {
  const readAt = kit.now()
  const epochs = new Map(await Promise.all(ids.map(async (id) => [id, await epochOf(id)] as const)))
  const known = await change(kit, (stored) => {
    // The client could have left again since the epochs were read.
    if (Math.abs(kit.now() - readAt) > noteLimit) throw new Error('the storage was too slow to end a client')
    return stored.map((client) => {
      const epoch = epochs.get(client.id)
      const { id, missing } = client
      if (epoch === undefined || missing === undefined || !isDue(client)) return client
      return { id, missing: { epoch, ...missing } }
    })
  })
  return new Map(
    known.flatMap((client) => {
      const { id, missing: { epoch } = {} } = client
      return epochs.has(id) && isDue(client) && epoch !== undefined ? [[id, epoch] as const] : []
    }),
  )
}

export function knownClients(key: string, present: Present): KnownClients {
  const change = createChange(key)
  let due: ReadonlySet<string> | undefined
  let first: Promise<void> | undefined

  async function compare(kit: EndpointKit): Promise<void> {
    const known = await change(kit, (stored) => withPresent(stored, present, kit.now()))
    due = new Set(known.filter(isDue).map(({ id }) => id))
  }

  return {
    get due() {
      return due
    },
    compare,
    async compareOnce(kit) {
      if (due !== undefined) return
      first ??= compare(kit).finally(() => {
        first = undefined
      })
      await first
    },
    async end(kit, isWanted, client) {
      const wanted = [...(due ?? [])].filter(isWanted)
      if (wanted.length === 0) return { left: [], failures: [] }
      const epochs = await noted(kit, wanted, client, change)
      const failures: unknown[] = []
      const ended = new Map<string, string | null>()
      for (const [id, epoch] of epochs) {
        try {
          await client.endEpoch(id, epoch)
          ended.set(id, epoch)
        } catch (error) {
          failures.push(error)
        }
      }
      if (ended.size > 0) {
        await change(kit, (stored) =>
          stored.flatMap((known) => {
            const { id, missing } = known
            if (!ended.has(id) || missing?.epoch !== ended.get(id)) return known
            return present.ids.has(id) ? { id } : []
          }),
        )
      }
      const left = [...epochs.keys()].filter((id) => !ended.has(id))
      due = new Set([...(due ?? [])].filter((id) => !wanted.includes(id) || left.includes(id)))
      return { left, failures }
    },
  }
}
