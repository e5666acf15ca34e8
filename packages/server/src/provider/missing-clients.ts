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

const key = 'clients'

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

/** Returns the next record. A server that has a client proves that it is not missing, unless its end is still to come. */
function compared(known: Known, ids: ReadonlySet<string>, ended: ReadonlySet<string>, now: number): Known {
  const isDue = ({ id, missing }: Known[number]): boolean =>
    missing !== undefined && missing.seconds >= grace && !ended.has(id)
  const missing = known.filter((client) => !ids.has(client.id) && !ended.has(client.id))
  const due = known.filter((client) => ids.has(client.id) && isDue(client))
  const isNoted = new Set(due.map(({ id }) => id))
  return [
    ...[...ids].filter((id) => !isNoted.has(id)).map((id) => ({ id })),
    ...due,
    ...missing.map((client) => ({ id: client.id, missing: longer(client.missing, now) })),
  ].sort((left, right) => (left.id < right.id ? -1 : 1))
}

/**
 * Returns a plugin that ends what was issued to a client that has left the configuration, and its consents, so that another
 * client does not inherit them with its id. Servers of a rollout have different configurations: a client has left when servers
 * have run without it for two hours, and none with it.
 *
 * @param isStored whether the storage has the client, enabled or not
 * @see docs/decisions/0022-revocation-by-epochs.md
 */
export function endMissingClients(
  clients: () => readonly ClientOptions[],
  revoke: (target: { readonly clientId: string }) => ReturnType<Provider['revoke']>,
  isStored: (clientId: string) => Promise<boolean>,
): Plugin {
  let next = 0

  /** A client that an administrator has moved to the storage is the same one, also one that is disabled there. */
  const isElsewhere = async (id: string, kit: EndpointKit): Promise<boolean> =>
    (await kit.findClient(id)) !== undefined || isStored(id)

  /** Ends the clients that are due. Returns the ids of those that have ended, or were found elsewhere, and the failures. */
  async function end(due: readonly string[], ids: ReadonlySet<string>, kit: EndpointKit) {
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

  async function compare(kit: EndpointKit): Promise<void> {
    const now = kit.now()
    const ids = new Set(clients().map(({ clientId }) => clientId))
    const known = (await kit.records.get(key, schema)) ?? []
    const due = known.flatMap(({ id, missing }) =>
      missing !== undefined && (ids.has(id) ? missing : longer(missing, now)).seconds >= grace ? id : [],
    )
    const { ended, failures } = await end(due, ids, kit)
    if (JSON.stringify(compared(known, ids, ended, now)) !== JSON.stringify(known)) {
      await kit.records.update(key, schema, (present = []) => ({
        value: compared(present, ids, ended, now),
        expiresAt: now + lifetime,
        keptAfterRestore: true,
      }))
    }
    if (failures.length > 0) throw failures[0]
  }

  return definePlugin('missing-clients', [
    defineTask(async (kit) => {
      if (kit.now() < next) return
      // After a failure, such as that of the storage.
      next = kit.now() + 60
      await compare(kit)
      next = kit.now() + interval
    }),
  ])
}
