import {
  type ClientOptions,
  defineHostFunctions,
  definePlugin,
  hostKey,
  type Plugin,
  type PluginPart,
} from '@grantry/core'
import { afterPause, type ClientSources, type Comparison, clientEnd, createEnding } from './end-clients.ts'
import { type ClientEnd, type Ended, idsOf, interval, knownClients } from './known-clients.ts'

/**
 * The clients of the listed tenants of a server that have left. The server compares them: a tenant that is not open at a server
 * keeps no client alive, and does not learn that one has left.
 */
export interface MissingInTenants extends Comparison {
  /** Ends the clients of a tenant that are due. */
  endOfTenant(tenant: string, client: ClientEnd): Promise<Ended>
}

export const missingInTenants = hostKey<MissingInTenants>('missing-in-tenants', 'the server')

export interface ListedTenant {
  readonly name: string
  readonly clients?: readonly ClientOptions[]
}

const idIn = (tenant: string, clientId: string): string => JSON.stringify([tenant, clientId])

const clientIdIn = (id: string): string => String(JSON.parse(id)[1])

const isIn = (tenant: string, id: string): boolean => id.startsWith(`[${JSON.stringify(tenant)},`)

/** Returns the parts of the plugin of a server that compare the clients of its tenants, and offer the result to these. */
export function offerMissing(tenants: readonly ListedTenant[]): readonly PluginPart[] {
  const ids = new Set(tenants.flatMap(({ name, clients = [] }) => idsOf(clients).map((id) => idIn(name, id))))
  // A server without the tenant cannot tell that a client of it is missing: the tenant can come back as it was.
  const isMissing = (id: string): boolean => tenants.some(({ name }) => isIn(name, id))
  const known = knownClients('clients of tenants', { ids, isMissing })
  return [
    afterPause(async (kit) => {
      await known.compare(kit)
      return interval
    }),
    defineHostFunctions(missingInTenants, (kit) => ({
      get due() {
        return known.due
      },
      compareOnce: () => known.compareOnce(kit),
      endOfTenant: (tenant, { epochOf, endEpoch }) =>
        known.end(kit, (id) => isIn(tenant, id), {
          epochOf: (id) => epochOf(clientIdIn(id)),
          endEpoch: (id, epoch) => endEpoch(clientIdIn(id), epoch),
        }),
    })),
  ]
}

/**
 * Returns the plugin of a listed tenant that ends the clients that its server has found missing: those that are back before
 * the next request, the others soon.
 *
 * @param ofServer returns what the server has found with its present configuration
 */
export function endMissingOfTenant(sources: ClientSources, tenant: string, ofServer: () => MissingInTenants): Plugin {
  const ids = new Set(idsOf(sources.clients()).map((id) => idIn(tenant, id)))
  const { endAll, parts } = createEnding(
    (id) => ids.has(id),
    ofServer,
    (kit) => ofServer().endOfTenant(tenant, clientEnd(sources, kit)),
  )
  return definePlugin('missing-clients', [
    ...parts,
    afterPause(async (kit) => {
      if (![...(ofServer().due ?? [])].some((id) => isIn(tenant, id))) return 0
      const { failures } = await endAll(kit)
      if (failures.length > 0) throw failures[0]
      return 0
    }),
  ])
}
