import type { Kit } from '@grantry/core'
import { createFetchBudget, type FetchLimits } from './fetch-budget.ts'
import { createFetchWaits } from './fetch-waits.ts'
import { createGuardedFetch, type Fetched, type FetchProblem, type GuardedFetch } from './guarded-fetch.ts'
import type { JwksUriSettings } from './jwks-settings.ts'
import { type PublishedKeySet, publishedKeySet } from './key-set.ts'
import { createPublished, type Loaded, type Published } from './published.ts'

/**
 * The result for a URI: keys, or the reason why there are none. Without a reason, the host has sent another document.
 */
type LoadedKeys = PublishedKeySet | { readonly problem: FetchProblem | undefined }

/**
 * Sends a request with the limits of the settings.
 *
 * @param share the part of the time limit that this request has. Default: all
 */
export type GetJson = (
  uri: string,
  share?: number,
) => Promise<{ readonly problem?: FetchProblem; readonly json?: unknown }>

/** Loads the keys of a URI, which may name another URI first. */
export type LoadKeys = (uri: string, get: GetJson) => Promise<LoadedKeys>

function jsonIn(fetched: Fetched): Awaited<ReturnType<GetJson>> {
  if (fetched.problem !== undefined) return { problem: fetched.problem }
  if (fetched.status !== 200) return {}
  try {
    return { json: JSON.parse(fetched.body) }
  } catch {
    // Not JSON: the caller reports that the keys are unavailable.
    return {}
  }
}

const loadJwks: LoadKeys = async (uri, get) => {
  const { json, problem } = await get(uri)
  return publishedKeySet(json) ?? { problem }
}

/** The number of URIs whose keys a process remembers. */
const maxEntries = 1000

/** The part of `maxAge` after which keys are fetched again, while requests still use the old ones and wait for nothing. */
const renewalAge = 0.75

/** Why keys are not available. `keys_address_refused`: the host has an address that is not public. */
export type UnavailableReason = 'keys_unavailable' | 'keys_address_refused'

/** The outcome without keys. */
interface KeysUnavailable {
  readonly reason: UnavailableReason
  readonly payload?: undefined
}

/** The keys that clients and issuers publish at their `jwksUri`. */
export interface PublishedKeys {
  /**
   * Verifies a JWT or a certificate with the keys that are published at this URI. If they do not contain its key, fetches
   * them again: the owner may have published another key, with or without an id.
   *
   * @param clientAddress of the caller, for the limits of fetches
   * @throws OAuthError `temporarily_unavailable` if too many requests wait for keys already
   */
  verify<O extends { readonly reason?: string | undefined }>(
    uri: string,
    kit: Pick<Kit, 'now' | 'refuse'>,
    verify: (keys: PublishedKeySet) => Promise<O>,
    clientAddress?: string,
  ): Promise<O | KeysUnavailable>
}

/**
 * @param load Default: there is a JWK set at each URI
 * @param limits Default: none besides those of the settings
 * @param send Default: requests with the rules of the settings
 */
export function createPublishedKeys(
  settings: JwksUriSettings,
  {
    load = loadJwks,
    limits,
    send,
  }: { readonly load?: LoadKeys; readonly limits?: FetchLimits; readonly send?: GuardedFetch } = {},
): PublishedKeys {
  const { timeout, maxSize, maxAge, cooldown, maxWaiting, allowPrivateAddresses, fetch } = settings
  const fetchGuarded = send ?? createGuardedFetch({ allowPrivateAddresses, send: fetch })
  const waits = createFetchWaits({ maxWaiting, timeout })
  const budget = limits && createFetchBudget(limits)
  const entries = new Map<string, Published<PublishedKeySet, UnavailableReason>>()

  function entryOf(uri: string): Published<PublishedKeySet, UnavailableReason> {
    const entry = entries.get(uri) ?? createPublished(waits, { renewal: maxAge * renewalAge, maxAge, cooldown })
    // The least recently used entry is the first one.
    entries.delete(uri)
    entries.set(uri, entry)
    const [oldest] = entries.keys()
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
    return entry
  }

  async function read(uri: string, now: number): Promise<Loaded<PublishedKeySet, UnavailableReason>> {
    const headers = { accept: 'application/jwk-set+json, application/json' }
    const loaded = await load(uri, async (url, share = 1) =>
      jsonIn(await fetchGuarded(url, { headers, timeout: timeout * share, maxSize, now })),
    )
    if ('find' in loaded) return { value: loaded }
    if (loaded.problem === 'busy') return { problem: 'busy' }
    return { problem: loaded.problem === 'address_refused' ? 'keys_address_refused' : 'keys_unavailable' }
  }

  return {
    async verify(uri, kit, verify, clientAddress) {
      const { now } = kit
      const search = {
        now,
        load: () => read(uri, now()),
        mayLoad: () => budget?.take(clientAddress, now()) === undefined,
      }
      const { value: keys, problem } = await entryOf(uri).find(search)
      if (problem === 'busy') {
        const text = 'The service is temporarily unavailable'
        throw kit.refuse('temporarily_unavailable', text, 'keys_busy', { retryAfter: 1 })
      }
      if (keys === undefined) return { reason: problem }
      const outcome = await verify(keys)
      if (outcome.reason !== 'key_unknown' && outcome.reason !== 'signature_mismatch') return outcome
      const { value: renewed = keys } = await entryOf(uri).find({ ...search, isNew: true })
      return renewed === keys ? outcome : verify(renewed)
    },
  }
}
