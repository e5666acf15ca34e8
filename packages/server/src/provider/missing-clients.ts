import {
  type ClientOptions,
  definePlugin,
  defineTask,
  type EndpointKit,
  type Plugin,
  type Provider,
} from '@grantry/core'
import * as v from 'valibot'

/** Seconds for which no server may have a client before everything of it ends. A rollout takes less. */
const grace = 2 * 3600
/** Seconds between two comparisons. With clocks that differ by an hour, a server that has a client is never too late. */
const interval = 600
/** Seconds, about ten years: longer than anything that is issued to a client. */
const lifetime = 315_360_000

const key = 'clients'

const schema = v.array(
  v.object({
    id: v.string(),
    /** Epoch seconds at which a server first did not have it. Absent while every server has it. */
    missingSince: v.exactOptional(v.number()),
  }),
)

type Known = v.InferOutput<typeof schema>

/** Returns the next record. A server that has a client proves that it is not missing. */
function compared(known: Known, ids: ReadonlySet<string>, ended: ReadonlySet<string>, now: number): Known {
  const missing = known.filter(({ id }) => !ids.has(id) && !ended.has(id))
  return [
    ...[...ids].map((id) => ({ id })),
    ...missing.map(({ id, missingSince = now }) => ({ id, missingSince })),
  ].sort((left, right) => (left.id < right.id ? -1 : 1))
}

/**
 * Returns a plugin that ends what was issued to a client that has left the configuration, and its consents, so that another
 * client does not inherit them with its id. Servers of a rollout have different configurations: only what no server has for
 * two hours has left, as far as those see it that run.
 *
 * @see docs/decisions/0022-revocation-by-epochs.md
 */
export function endMissingClients(
  clients: () => readonly ClientOptions[],
  revoke: (target: { readonly clientId: string }) => ReturnType<Provider['revoke']>,
): Plugin {
  let next = 0

  /** A client that an administrator has moved to the storage is the same one. */
  const isElsewhere = async (id: string, kit: EndpointKit): Promise<boolean> => (await kit.findClient(id)) !== undefined

  async function compare(kit: EndpointKit): Promise<void> {
    const now = kit.now()
    const ids = new Set(clients().map(({ clientId }) => clientId))
    const known = await kit.records.get(key, schema)
    const ended = (known ?? []).flatMap(({ id, missingSince = now }) => (now - missingSince >= grace ? id : []))
    for (const id of ended) if (ids.has(id) || !(await isElsewhere(id, kit))) await revoke({ clientId: id })
    const isSame = JSON.stringify(compared(known ?? [], ids, new Set(ended), now)) === JSON.stringify(known ?? [])
    if (isSame) return
    await kit.records.update(key, schema, (present = []) => ({
      value: compared(present, ids, new Set(ended), now),
      expiresAt: now + lifetime,
      keptAfterRestore: true,
    }))
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
