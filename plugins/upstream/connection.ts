import type { Kit } from '@grantry/core'
import type { Configuration } from 'openid-client'
import { createFetchWaits, type FetchAttempt } from '../shared/fetch-waits.ts'
import { failed, reasonOf, type UpstreamFailure } from './failure.ts'
import { createLibrary, type Library } from './library.ts'
import { createOutgoing, type Outgoing } from './outgoing.ts'
import type { Provider, Settings } from './upstream-options.ts'

/** Seconds after which metadata is read again, while requests still use the old one. */
const renewalAge = 3600
/** Seconds for which metadata counts while the provider does not respond. */
const maxAge = 86_400
/** Seconds for which a failure is remembered. */
const cooldown = 5
/** Requests that wait for the metadata of a provider. */
const maxWaiting = 128
/** `createFetchWaits` gives an attempt an eighth of all places. */
const waitingShare = 8

/** A provider whose metadata is known. */
export interface Opened {
  readonly library: Library
  readonly client: Configuration
}

/** The metadata of a provider, and this provider as its client. */
export interface Connection {
  readonly provider: Provider
  readonly outgoing: Outgoing
  /** Returns the configuration of the library, or why there is none. */
  open(kit: Pick<Kit, 'now'>): Promise<Opened | UpstreamFailure>
}

/**
 * Keeps the metadata of a provider. Concurrent requests share one fetch, a failure is remembered for seconds, and known
 * metadata outlives an outage.
 */
export function createConnection(provider: Provider, settings: Settings): Connection {
  const outgoing = createOutgoing(provider, settings)
  const load = createLibrary(provider, settings)
  // A discovery takes two requests at most.
  const waits = createFetchWaits({ maxWaiting: maxWaiting * waitingShare, timeout: settings.timeout * 2 })
  let client: Configuration | undefined
  let fetchedAt = Number.NEGATIVE_INFINITY
  let triedAt = Number.NEGATIVE_INFINITY
  let problem: UpstreamFailure = failed('metadata_unavailable')
  let pending: FetchAttempt | undefined

  async function renew(library: Library, kit: Pick<Kit, 'now'>, now: number): Promise<void> {
    try {
      client = await library.discover(outgoing.forLibrary(kit.now), kit)
      fetchedAt = now
    } catch (error) {
      problem = failed(`metadata_${reasonOf(error)}`)
    } finally {
      if (triedAt === now) pending = undefined
    }
  }

  return {
    provider,
    outgoing,
    async open(kit) {
      const library = await load()
      const now = kit.now()
      // When a Worker ends a request, a fetch that the request started may never settle.
      if (pending !== undefined && now > triedAt + settings.timeout * 2 + 1) pending = undefined
      if (pending === undefined && now >= fetchedAt + renewalAge && now >= triedAt + cooldown) {
        triedAt = now
        pending = waits.start(now, () => renew(library, kit, now))
      }
      const isUsable = (): boolean => now < fetchedAt + maxAge
      if (!isUsable() && pending !== undefined && !(await waits.wait(pending, now))) return failed('busy')
      return client !== undefined && isUsable() ? { library, client } : problem
    },
  }
}
