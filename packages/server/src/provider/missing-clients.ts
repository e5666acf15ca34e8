import { definePlugin, type EndpointKit, type Plugin } from '@grantry/core'
import { afterPause, createEnding, type Ends, endIn, idsOf, interval, knownClients } from './known-clients.ts'
import { type ListedTenant, offerMissing } from './missing-in-tenants.ts'

const none: ReadonlySet<string> = new Set()

/**
 * Returns a plugin that ends what was issued to a client that has left the configuration, and its consents, so that another
 * client does not inherit them with its id. Servers of a rollout have different configurations: a client has left when servers
 * have run without it for two hours, and none with it.
 *
 * @see docs/decisions/0022-revocation-by-epochs.md
 */
export function endMissingClients(ends: Ends, tenants: readonly ListedTenant[] | undefined): Plugin {
  const ids = new Set(idsOf(ends.clients()))
  const known = knownClients('clients', { ids, isMissing: () => true })
  let first: Promise<unknown> | undefined
  let hasTried = false

  /** Once. While the storage fails, keys and documents must be served, and nothing can be redeemed. */
  async function compared(kit: EndpointKit): Promise<void> {
    first ??= Promise.allSettled([known.compare(kit)])
    await first
    hasTried = true
  }

  const { endAll, part } = createEnding(
    (id) => ids.has(id),
    () => ({ due: known.due ?? (hasTried ? none : undefined), compared }),
    (kit) => known.end(kit, () => true, endIn(ends, kit)),
  )
  return definePlugin('missing-clients', [
    part,
    afterPause(async (kit) => {
      await known.compare(kit)
      const { left, failures } = await endAll(kit)
      if (failures.length > 0) throw failures[0]
      // Another server ends one, or has stopped during it.
      return left.length > 0 ? 60 : interval
    }),
    ...(tenants === undefined ? [] : offerMissing(tenants)),
  ])
}
