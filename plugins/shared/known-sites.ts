import { type EndpointKit, isOAuthError, type Json, siteOf } from '@grantry/core'
import * as v from 'valibot'

/** Seconds for which a site is known after a sign-in there. */
const knownLifetime = 2_592_000

/**
 * The requests that one known site, and all known sites together, can store in a window (seconds), in addition to the
 * limit of all callers.
 */
const window = 600
export const placesOfSite = 100
export const placesOfAllSites = 10_000

/** Bytes of JSON. Larger requests are not those of users. */
const maxBytes = 4096

const keyOf = (site: string): string => `site with users:${site}`

/** Remembers that a user has signed in at this site. */
export async function rememberSite(clientAddress: string | undefined, { records, now }: EndpointKit): Promise<void> {
  if (clientAddress === undefined) return
  await records.put(keyOf(siteOf(clientAddress)), true, now() + knownLifetime)
}

type WaitingKit = Pick<EndpointKit, 'records' | 'now' | 'limitWaiting'>

/** Whether a request has a place among those of sites where users have signed in. */
async function hasPlace(
  clientAddress: string | undefined,
  value: Json,
  { records, now }: WaitingKit,
): Promise<boolean> {
  if (clientAddress === undefined || new TextEncoder().encode(JSON.stringify(value)).length > maxBytes) return false
  const site = siteOf(clientAddress)
  if ((await records.get(keyOf(site), v.boolean())) !== true) return false
  const current = Math.floor(now() / window)
  const count = (name: string): Promise<number> =>
    records.increment(`waiting with users:${JSON.stringify([current, name])}`, (current + 1) * window + 60)
  // Counts the site first: a site that floods must not use up the places of the others.
  return (await count(site)) <= placesOfSite && (await count('all')) <= placesOfAllSites
}

/**
 * Stores something for a caller who has proved nothing yet, as `limitWaiting` of the kit does. When strangers have used up
 * the limit of all callers, sites where users have signed in have places of their own.
 *
 * @throws OAuthError as `limitWaiting`
 */
export async function storeWaiting<T>(
  kit: WaitingKit,
  http: { readonly clientAddress: string | undefined },
  waiting: {
    readonly value: Json
    readonly store: () => Promise<T>
    readonly remove: (stored: T) => Promise<void>
  },
): Promise<T> {
  try {
    return await kit.limitWaiting(http, waiting)
  } catch (error) {
    const isOfAll =
      isOAuthError(error) &&
      error.code === 'temporarily_unavailable' &&
      error.details.reason === 'too_many_waiting_requests'
    if (isOfAll && (await hasPlace(http.clientAddress, waiting.value, kit))) return waiting.store()
    throw error
  }
}
