import { OAuthError } from '../errors/oauth-error.ts'
import type { LimitWaiting } from '../parts/kit.ts'
import { utf8 } from '../runtime.ts'
import type { AbuseControl } from './abuse-control.ts'
import { siteOf } from './address-group.ts'
import { createWindowLimit, type LimitDeps, type WindowLimit } from './window-limit.ts'

/** Bytes of JSON that count as one request. */
const unit = 4096

/** The name under which the requests of all callers are counted. */
const everyone = 'all'

const text = 'Too many requests are waiting for their users, try again later'

const detailsOf = (wait: number) => ({
  reason: 'too_many_waiting_requests',
  retryAfter: Math.max(1, Math.ceil(wait)),
})

const ofSite = (wait: number): OAuthError => new OAuthError('slow_down', text, { ...detailsOf(wait), status: 429 })
const ofAll = (wait: number): OAuthError => new OAuthError('temporarily_unavailable', text, detailsOf(wait))

/** Creates `limitWaiting` of the plugins: one count for all of them, because they share the storage. */
export function createWaitingLimit(limits: AbuseControl['waitingRequests'], deps: LimitDeps): LimitWaiting {
  if (limits === false) return (_, { store }) => store()
  const { perAddress, total, window } = limits
  const { recorder } = deps
  const create = (name: string, failures: number): WindowLimit =>
    createWindowLimit({ failures, window }, { ...deps, limit: `waitingRequests.${name}` })
  // Sites, because the total is shared between them: with 64 bits of IPv6, one site would be 65,536 sources.
  const bySite = create('perAddress', perAddress)
  const together = create('total', total)

  return async ({ clientAddress }, { value, store, remove }) => {
    const site = clientAddress === undefined ? undefined : siteOf(clientAddress)
    const counted = [
      ...(site === undefined ? [] : [{ limit: bySite, name: site, refuse: ofSite }]),
      { limit: together, name: everyone, refuse: ofAll },
    ]
    // A flood beyond the limit must not reach the storage.
    for (const { limit, name, refuse } of counted) {
      const wait = limit.knownWait(name)
      if (wait !== undefined) throw refuse(wait)
    }
    const trace = recorder.start(undefined, clientAddress === undefined ? {} : { clientAddress })
    const units = Math.max(1, Math.ceil(utf8(JSON.stringify(value)).length / unit))
    async function count(): Promise<void> {
      const waits = await Promise.all(
        counted.flatMap(({ limit, name, refuse }) =>
          Array.from({ length: units }, async () => ({ refuse, wait: await limit.announce(name).count(trace) })),
        ),
      )
      for (const { refuse, wait } of waits) if (wait !== undefined) throw refuse(wait)
    }
    // In one trip. The few requests that reach the limit in this moment are removed again.
    const [counting, storing] = await Promise.allSettled([count(), store()])
    if (storing.status === 'rejected') throw storing.reason
    if (counting.status === 'fulfilled') return storing.value
    await remove(storing.value)
    throw counting.reason
  }
}
