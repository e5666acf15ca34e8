import {
  authorizations,
  type ClientOptions,
  defineHostFunctions,
  defineTask,
  type EndpointKit,
  hostKey,
} from '@grantry/core'
import type { ClientEnd, Ended, KnownClients } from './known-clients.ts'

export interface ClientSources {
  /** The clients of the configuration. */
  readonly clients: () => readonly ClientOptions[]
  /** Whether the storage has the client, enabled or not. */
  readonly isStored: (clientId: string) => Promise<boolean>
}

/** Returns the functions that end everything of a client at one provider. */
export const clientEnd = ({ clients, isStored }: ClientSources, kit: EndpointKit): ClientEnd => ({
  epochOf: async (id) => (await kit.epochOfClient(id)) ?? null,
  async endEpoch(id, epoch) {
    const isConfigured = clients().some(({ clientId }) => clientId === id)
    // A client that an administrator has moved to the storage is the same client, even if it is disabled there.
    const isElsewhere = async () => (await kit.findClient(id)) !== undefined || isStored(id)
    if (isConfigured || !(await isElsewhere())) await kit.renewEpochOfClient(id, epoch)
  },
})

/** @param run returns the seconds until the next run */
export const afterPause = (run: (kit: EndpointKit) => Promise<number>) => {
  let next = 0
  return defineTask(async (kit) => {
    if (kit.now() < next) return
    // The next attempt after a failure, such as an outage of the storage.
    next = kit.now() + 60
    next = kit.now() + (await run(kit))
  })
}

/** The work of a provider before each request. */
export interface BeforeRequests {
  /**
   * Ends clients that had left the configuration and are back. Returns `undefined` if there are none, as in nearly all
   * cases. Rejects if that fails, or if it is not known whether there are any: the request must then not be served,
   * because it could redeem what was issued to another client with this id.
   */
  endMissing(): Promise<void> | undefined
}

export const beforeRequests = hostKey<BeforeRequests>('missing-clients', 'the server')

/** The result of a comparison. */
export interface Comparison {
  readonly due: KnownClients['due']
  /** Compares, unless that has succeeded before. */
  compareOnce(kit: EndpointKit): Promise<void>
}

/**
 * Returns the parts that end clients that are back, and the function that ends all that are due, once for all callers.
 *
 * @param has whether the provider has the client
 */
export function createEnding(
  has: (id: string) => boolean,
  comparison: () => Comparison,
  end: (kit: EndpointKit) => Promise<Ended>,
) {
  let running: Promise<Ended> | undefined
  let known: KnownClients['due']
  let isKnownBack = true

  function endAll(kit: EndpointKit): Promise<Ended> {
    running ??= end(kit).finally(() => {
      running = undefined
    })
    return running
  }

  /** Whether a client had left and is back, or whether that is not known yet. Searches once for each set. */
  function isBack(): boolean {
    const { due } = comparison()
    if (due !== known) isKnownBack = due === undefined || [...due].some(has)
    known = due
    return isKnownBack
  }

  async function endBack(kit: EndpointKit): Promise<void> {
    await comparison().compareOnce(kit)
    if (!isBack()) return
    const { left, failures } = await endAll(kit)
    if (left.some(has)) throw failures[0]
  }

  const part = defineHostFunctions(beforeRequests, (kit) => ({
    endMissing: () => (isBack() ? endBack(kit) : undefined),
  }))
  return { endAll, parts: [authorizations, part] }
}
