import type { Kit } from '@grantry/core'
import type { Configuration } from 'openid-client'
import { createFetchWaits } from '../shared/fetch-waits.ts'
import { createPublished, type Loaded } from '../shared/published.ts'
import { failed, reasonOf, type UpstreamFailure } from './failure.ts'
import { createLibrary, type Library } from './library.ts'
import { createOutgoing, type Outgoing } from './outgoing.ts'
import type { Provider, Settings } from './upstream-options.ts'

/** Seconds after which metadata is read again, while requests still use the old one. */
const renewal = 3600
/** Seconds for which metadata is used while the provider does not respond. */
const maxAge = 86_400
/** Seconds for which a failure is not tried again. */
const cooldown = 5
/** Seconds for which one sign-in waits for newer metadata. */
const patience = 0.5
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
  const metadata = createPublished<Opened, string>(waits, { renewal, maxAge, cooldown, patience })

  async function discover(kit: Pick<Kit, 'now'>): Promise<Loaded<Opened, string>> {
    try {
      const library = await load()
      return { value: { library, client: await library.discover(outgoing.forLibrary(kit.now), kit) } }
    } catch (error) {
      return { problem: reasonOf(error) }
    }
  }

  return {
    provider,
    outgoing,
    async open(kit) {
      const { value, problem } = await metadata.find({ load: () => discover(kit), now: kit.now })
      return value ?? failed(problem === 'busy' ? problem : `metadata_${problem}`)
    },
  }
}
