import { definePlugin, type Plugin } from '@grantry/core'
import { afterPause, type ClientSources, clientEnd, createEnding } from './end-clients.ts'
import { idsOf, interval, knownClients } from './known-clients.ts'
import { type ListedTenant, offerMissing } from './missing-in-tenants.ts'

/**
 * Returns a plugin that ends what was issued to a client that has left the configuration, and its consents, so that
 * another client does not inherit them with its id. Servers of a rollout have different configurations: a client has
 * left when servers have run without it for two hours, and no server with it.
 *
 * @see docs/decisions/0022-revocation-by-epochs.md
 */
export function endMissingClients(sources: ClientSources, tenants: readonly ListedTenant[] | undefined): Plugin {
  const ids = new Set(idsOf(sources.clients()))
  const known = knownClients('clients', { ids, isMissing: () => true })
  const { endAll, parts } = createEnding(
    (id) => ids.has(id),
    () => known,
    (kit) => known.end(kit, () => true, clientEnd(sources, kit)),
  )
  return definePlugin('missing-clients', [
    ...parts,
    afterPause(async (kit) => {
      await known.compare(kit)
      const { failures } = await endAll(kit)
      if (failures.length > 0) throw failures[0]
      return interval
    }),
    ...(tenants === undefined ? [] : offerMissing(tenants)),
  ])
}
