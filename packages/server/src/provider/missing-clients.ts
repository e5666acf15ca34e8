import {
  type ClientOptions,
  definePlugin,
  defineTask,
  type EndpointKit,
  type Plugin,
  type Provider,
} from '@grantry/core'
import * as v from 'valibot'

/** Seconds for which servers must have run without a client before everything of it ends. A rollout takes less. */
const grace = 2 * 3600
/** Seconds between two comparisons. */
const interval = 600
/** Seconds, about ten years: longer than anything that is issued to a client. */
const lifetime = 315_360_000

const missingSchema = v.object({
  /** Seconds for which servers have run without the client. */
  seconds: v.number(),
  /** Epoch seconds of the last comparison by a server without the client. */
  at: v.number(),
})

const schema = v.array(
  v.object({
    id: v.string(),
    /** Absent while every server has the client. */
    missing: v.exactOptional(missingSchema),
  }),
)

type Known = v.InferOutput<typeof schema>
type Missing = v.InferOutput<typeof missingSchema>

/** Counts only the time in which servers compare: neither a stop of all of them, nor an outage, nor a wrong clock. */
function longer(missing: Missing | undefined, now: number): Missing {
  if (missing === undefined) return { seconds: 0, at: now }
  return { seconds: missing.seconds + Math.min(Math.max(now - missing.at, 0), 2 * interval), at: now }
}

/** The clients that a server has, and about which others it can tell that they are missing. */
interface Present {
  readonly ids: ReadonlySet<string>
  isMissing(id: string): boolean
}

const isDue = ({ missing }: Known[number]): boolean => missing !== undefined && missing.seconds >= grace

/** Returns the next record. A server that has a client proves that it is not missing, unless its end is still to come. */
function compared(known: Known, { ids, isMissing }: Present, ended: ReadonlySet<string>, now: number): Known {
  const others = known.filter((client) => !ids.has(client.id) && !ended.has(client.id))
  const due = known.filter((client) => ids.has(client.id) && isDue(client) && !ended.has(client.id))
  const isNoted = new Set(due.map(({ id }) => id))
  return [
    ...[...ids].filter((id) => !isNoted.has(id)).map((id) => ({ id })),
    ...due,
    ...others.map((client) =>
      isMissing(client.id) ? { id: client.id, missing: longer(client.missing, now) } : client,
    ),
  ].sort((left, right) => (left.id < right.id ? -1 : 1))
}

/** Ends the clients that are due. Returns those that need no end any more, and the failures. */
type End = (
  due: readonly string[],
  kit: EndpointKit,
) => Promise<{ readonly ended: ReadonlySet<string>; readonly failures: readonly unknown[] }>

type Records = EndpointKit['records']

const note = (records: Records, key: string, now: number, change: (stored: Known) => Known): Promise<void> =>
  records.update(key, schema, (stored = []) => ({
    value: change(stored),
    expiresAt: now + lifetime,
    keptAfterRestore: true,
  }))

/** Compares what this server has with what servers had, in a record, and ends what is due. @throws the first failure */
async function compare(kit: EndpointKit, key: string, present: Present, end: End): Promise<void> {
  const now = kit.now()
  const known = (await kit.records.get(key, schema)) ?? []
  const due = known.flatMap(({ id, missing }) => {
    if (missing === undefined) return []
    const isLonger = !present.ids.has(id) && present.isMissing(id)
    return (isLonger ? longer(missing, now) : missing).seconds >= grace ? id : []
  })
  const { ended, failures } = await end(due, kit)
  if (JSON.stringify(compared(known, present, ended, now)) !== JSON.stringify(known)) {
    await note(kit.records, key, now, (stored) => compared(stored, present, ended, now))
  }
  if (failures.length > 0) throw failures[0]
}

interface Ends {
  /** The clients of the configuration. */
  readonly clients: () => readonly ClientOptions[]
  readonly revoke: (target: { readonly clientId: string }) => ReturnType<Provider['revoke']>
  /** Whether the storage has the client, enabled or not. */
  readonly isStored: (clientId: string) => Promise<boolean>
}

/** Returns what ends clients of one provider. */
function createEnd({ clients, revoke, isStored }: Ends): End {
  /** A client that an administrator has moved to the storage is the same one, also one that is disabled there. */
  const isElsewhere = async (id: string, kit: EndpointKit): Promise<boolean> =>
    (await kit.findClient(id)) !== undefined || isStored(id)

  return async (due, kit) => {
    const ids = new Set(clients().map(({ clientId }) => clientId))
    const ended = new Set<string>()
    const failures: unknown[] = []
    for (const id of due) {
      try {
        if (ids.has(id) || !(await isElsewhere(id, kit))) await revoke({ clientId: id })
        ended.add(id)
      } catch (error) {
        failures.push(error)
      }
    }
    return { ended, failures }
  }
}

/**
 * The clients of the listed tenants of a server, by tenant. The server compares them: a tenant that is not open at a server keeps no
 * client alive, and does not learn that one has left.
 */
export interface MissingInTenants {
  /** Those whose end was due at the last comparison. */
  due: ReadonlySet<string>
  /** The records of the server, which has compared: a tenant has others. */
  records: Records | undefined
}

export const createMissingInTenants = (): MissingInTenants => ({ due: new Set(), records: undefined })

/** Whether clients of a tenant have to end before it serves a request. */
export const hasMissing = ({ due }: MissingInTenants, tenant: string): boolean =>
  [...due].some((id) => isIn(tenant, id))

const isIn = (tenant: string, id: string): boolean => id.startsWith(`[${JSON.stringify(tenant)},`)

const keyOfTenants = 'clients of tenants'

const idIn = (tenant: string, clientId: string): string => JSON.stringify([tenant, clientId])

interface ListedTenant {
  readonly name: string
  readonly clients?: readonly ClientOptions[]
}

/** A server without the tenant cannot tell that a client of it is missing: the tenant can come back as it was. */
const presentIn = (tenants: readonly ListedTenant[]): Present => ({
  ids: new Set(tenants.flatMap(({ name, clients = [] }) => clients.map(({ clientId }) => idIn(name, clientId)))),
  isMissing: (id) => tenants.some(({ name }) => isIn(name, id)),
})

/** @param pause seconds until the next run */
const afterPause = (run: (kit: EndpointKit) => Promise<void>, pause = interval) => {
  let next = 0
  return defineTask(async (kit) => {
    if (kit.now() < next) return
    // After a failure, such as that of the storage.
    next = kit.now() + 60
    await run(kit)
    next = kit.now() + pause
  })
}

/**
 * Returns a plugin that ends what was issued to a client that has left the configuration, and its consents, so that another
 * client does not inherit them with its id. Servers of a rollout have different configurations: a client has left when servers
 * have run without it for two hours, and none with it.
 *
 * @see docs/decisions/0022-revocation-by-epochs.md
 */
export function endMissingClients(
  ends: Ends,
  tenants: { readonly list: readonly ListedTenant[]; readonly missing: MissingInTenants } | undefined,
): Plugin {
  const end = createEnd(ends)
  return definePlugin('missing-clients', [
    afterPause((kit) => {
      const ids = new Set(ends.clients().map(({ clientId }) => clientId))
      return compare(kit, 'clients', { ids, isMissing: () => true }, end)
    }),
    ...(tenants === undefined
      ? []
      : [
          afterPause(async (kit) => {
            const { list, missing } = tenants
            await compare(kit, keyOfTenants, presentIn(list), async (due) => {
              missing.records = kit.records
              missing.due = new Set(due)
              return { ended: new Set(), failures: [] }
            })
          }),
        ]),
  ])
}

/**
 * Returns the plugin of a listed tenant that does the same, for the clients that its server has found missing. The record has
 * the last word: another server may have ended one since then, and a client that is back has a right to what it got.
 */
export function endMissingOfTenant(ends: Ends, tenant: string, missing: MissingInTenants): Plugin {
  const end = createEnd(ends)
  return definePlugin('missing-clients', [
    afterPause(async (kit) => {
      const { records } = missing
      if (records === undefined || !hasMissing(missing, tenant)) return
      const remembered = [...missing.due].filter((id) => isIn(tenant, id))
      const known = (await records.get(keyOfTenants, schema)) ?? []
      const due = new Set(known.filter(isDue).map(({ id }) => id))
      const { ended, failures } = await end(
        remembered.filter((id) => due.has(id)).map((id) => String(JSON.parse(id)[1])),
        kit,
      )
      const endedIds = new Set([...ended].map((clientId) => idIn(tenant, clientId)))
      if (ended.size > 0) {
        const present = { ...presentIn([{ name: tenant, clients: ends.clients() }]), isMissing: () => false }
        await note(records, keyOfTenants, kit.now(), (stored) => compared(stored, present, endedIds, kit.now()))
      }
      const settled = new Set(remembered.filter((id) => !due.has(id) || endedIds.has(id)))
      missing.due = new Set([...missing.due].filter((id) => !settled.has(id)))
      if (failures.length > 0) throw failures[0]
    }, 0),
  ])
}
