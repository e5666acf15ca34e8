import {
  type ClientOptions,
  defineHostFunctions,
  defineTask,
  type EndpointKit,
  hostKey,
  type Provider,
} from '@grantry/core'
import * as v from 'valibot'

/** Seconds for which servers must have run without a client before everything of it ends. A rollout takes less. */
const grace = 2 * 3600
/** Seconds between two comparisons. */
export const interval = 600
/** Seconds, about ten years: longer than anything that is issued to a client. */
const lifetime = 315_360_000
/** Seconds after which another server ends a client instead of one that has claimed it: several time limits of the storage. */
const claimLifetime = 60

const missingSchema = v.object({
  /** Seconds for which servers have run without the client. */
  seconds: v.number(),
  /** Epoch seconds of the last comparison by a server without the client. */
  at: v.number(),
  /** The server that ends the client, and since when (epoch seconds). */
  claim: v.exactOptional(v.object({ by: v.string(), at: v.number() })),
})

const schema = v.array(
  v.object({
    id: v.string(),
    /** Absent while every server has the client. */
    missing: v.exactOptional(missingSchema),
  }),
)

/** Returns the ids of clients of the configuration. The provider is created later, and refuses a malformed one with its path. */
export const idsOf = (clients: readonly (ClientOptions | null)[]): readonly string[] =>
  clients.flatMap((client) => (typeof client?.clientId === 'string' ? [client.clientId] : []))

type Known = v.InferOutput<typeof schema>
type KnownClient = Known[number]

/** The clients that a server has, and about which others it can tell that they are missing. */
export interface Present {
  readonly ids: ReadonlySet<string>
  isMissing(id: string): boolean
}

/** Counts only the time in which servers compare: neither a stop of all of them, nor an outage, nor a wrong clock. */
function longer({ id, missing = { seconds: 0, at: Number.POSITIVE_INFINITY } }: KnownClient, now: number): KnownClient {
  const seconds = missing.seconds + Math.min(Math.max(now - missing.at, 0), 2 * interval)
  return { id, missing: { ...missing, seconds, at: now } }
}

const isDue = ({ missing }: KnownClient): boolean => missing !== undefined && missing.seconds >= grace

/** Returns the next record. A server that has a client proves that it is not missing, unless its end is due. */
function compared(known: Known, { ids, isMissing }: Present, now: number): Known {
  const kept = known.filter((client) => !ids.has(client.id) || isDue(client))
  const keptIds = new Set(kept.map(({ id }) => id))
  return [
    ...[...ids].filter((id) => !keptIds.has(id)).map((id) => ({ id })),
    ...kept.map((client) => (!ids.has(client.id) && isMissing(client.id) ? longer(client, now) : client)),
  ].sort((left, right) => (left.id < right.id ? -1 : 1))
}

/** Claims a client that is due, unless another server ends it at the moment. */
function claimed(client: KnownClient, by: string, at: number): KnownClient {
  const { id, missing } = client
  if (missing === undefined || !isDue(client)) return client
  const { claim } = missing
  const isOfOther = claim !== undefined && claim.by !== by && Math.abs(at - claim.at) < claimLifetime
  return isOfOther ? client : { id, missing: { ...missing, claim: { by, at } } }
}

export interface Ended {
  /** The ids of those that are still due. */
  readonly left: readonly string[]
  readonly failures: readonly unknown[]
}

/** What a server knows about the clients of all servers: one record. */
export interface KnownClients {
  /** The ids of those whose end is due; `undefined` before the first comparison. */
  readonly due: ReadonlySet<string> | undefined
  /** Compares what this server has with what servers had. */
  compare(kit: EndpointKit): Promise<void>
  /**
   * Ends those that are due, unless they are not due any more: another server may have ended one, and a client that is back has
   * a right to what it got since. Each is claimed before its end, so that one server ends it.
   */
  end(kit: EndpointKit, isWanted: (id: string) => boolean, end: (id: string) => Promise<void>): Promise<Ended>
}

export function knownClients(key: string, present: Present): KnownClients {
  const by = crypto.randomUUID()
  let due: ReadonlySet<string> | undefined

  /** Returns the new record. It is written only if it differs. */
  async function change({ records, now }: EndpointKit, next: (stored: Known) => Known): Promise<Known> {
    let value: Known = []
    await records.update(key, schema, (stored = []) => {
      value = next(stored)
      const isSame = JSON.stringify(value) === JSON.stringify(stored)
      return isSame ? undefined : { value, expiresAt: now() + lifetime, keptAfterRestore: true }
    })
    return value
  }

  const isOwn = ({ missing }: KnownClient): boolean => missing?.claim?.by === by

  /** Removes those that have ended, unless they are back, and lets other servers try what has failed. */
  function settled(client: KnownClient, ended: ReadonlySet<string>): KnownClient | [] {
    const { id, missing } = client
    if (missing === undefined || !isOwn(client)) return client
    if (!ended.has(id)) return { id, missing: { seconds: missing.seconds, at: missing.at } }
    return present.ids.has(id) ? { id } : []
  }

  return {
    get due() {
      return due
    },
    async compare(kit) {
      const known = await change(kit, (stored) => compared(stored, present, kit.now()))
      due = new Set(known.filter(isDue).map(({ id }) => id))
    },
    async end(kit, isWanted, end) {
      const wanted = new Set([...(due ?? [])].filter(isWanted))
      if (wanted.size === 0) return { left: [], failures: [] }
      const known = await change(kit, (stored) =>
        stored.map((client) => (wanted.has(client.id) ? claimed(client, by, kit.now()) : client)),
      )
      const left = known.filter((client) => wanted.has(client.id) && isDue(client))
      const failures: unknown[] = []
      const ended = new Set<string>()
      for (const { id } of left.filter(isOwn)) {
        try {
          await end(id)
          ended.add(id)
        } catch (error) {
          failures.push(error)
        }
      }
      if (ended.size + failures.length > 0) {
        await change(kit, (stored) =>
          stored.flatMap((client) => (wanted.has(client.id) ? settled(client, ended) : client)),
        )
      }
      const ids = left.map(({ id }) => id).filter((id) => !ended.has(id))
      due = new Set([...(due ?? [])].filter((id) => !wanted.has(id) || ids.includes(id)))
      return { left: ids, failures }
    },
  }
}

export interface Ends {
  /** The clients of the configuration. */
  readonly clients: () => readonly ClientOptions[]
  readonly revoke: (target: { readonly clientId: string }) => ReturnType<Provider['revoke']>
  /** Whether the storage has the client, enabled or not. */
  readonly isStored: (clientId: string) => Promise<boolean>
}

/** Returns what ends a client of one provider. */
export const endIn =
  ({ clients, revoke, isStored }: Ends, kit: EndpointKit) =>
  async (id: string): Promise<void> => {
    const isConfigured = clients().some(({ clientId }) => clientId === id)
    // A client that an administrator has moved to the storage is the same one, also one that is disabled there.
    const isElsewhere = async () => (await kit.findClient(id)) !== undefined || isStored(id)
    if (isConfigured || !(await isElsewhere())) await revoke({ clientId: id })
  }

/** @param run returns the seconds until the next run */
export const afterPause = (run: (kit: EndpointKit) => Promise<number>) => {
  let next = 0
  return defineTask(async (kit) => {
    if (kit.now() < next) return
    // After a failure, such as that of the storage.
    next = kit.now() + 60
    next = kit.now() + (await run(kit))
  })
}

/** What a provider does before each request. */
export interface BeforeRequests {
  /**
   * Ends clients that had left and are back. Returns `undefined` if there are none, as nearly always. Rejects if that fails, also
   * while another server ends one: the request must not be served.
   */
  endMissing(): Promise<void> | undefined
}

export const beforeRequests = hostKey<BeforeRequests>('missing-clients', 'the server')

/** Returns the host function that ends clients that are back, and the function that ends all that are due, once for all callers. */
export function createEnding(
  isOwn: (id: string) => boolean,
  comparison: () => { readonly due: KnownClients['due']; compared(kit: EndpointKit): Promise<void> },
  end: (kit: EndpointKit) => Promise<Ended>,
) {
  let running: Promise<Ended> | undefined
  function endAll(kit: EndpointKit): Promise<Ended> {
    running ??= end(kit).finally(() => {
      running = undefined
    })
    return running
  }

  /** Whether a client had left and is back, or that is not known yet. */
  function isBack(): boolean {
    const { due } = comparison()
    return due === undefined || (due.size > 0 && [...due].some(isOwn))
  }

  async function endBack(kit: EndpointKit): Promise<void> {
    await comparison().compared(kit)
    if (!isBack()) return
    const { left, failures } = await endAll(kit)
    if (left.some(isOwn)) throw failures[0] ?? new Error('another server ends a client that is back')
  }

  const part = defineHostFunctions(beforeRequests, (kit) => ({
    endMissing: () => (isBack() ? endBack(kit) : undefined),
  }))
  return { endAll, part }
}
