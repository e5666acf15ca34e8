import type { Kit } from '@grantry/core'
import { createFetchBudget, type FetchLimits } from './fetch-budget.ts'
import { createFetchWaits, type FetchAttempt } from './fetch-waits.ts'
import { createGuardedFetch, type Fetched, type FetchProblem } from './guarded-fetch.ts'
import type { JwksUriSettings } from './jwks-settings.ts'
import { type PublishedKeySet, publishedKeySet } from './key-set.ts'

/** What a URI leads to: keys, or why there are none. Without a reason, the host has sent something else. */
export type Loaded = PublishedKeySet | { readonly problem: FetchProblem | undefined }

/**
 * Sends a request with the limits of the settings.
 *
 * @param share the part of the time limit that it has. Default: all
 */
export type GetJson = (
  uri: string,
  share?: number,
) => Promise<{ readonly problem?: FetchProblem; readonly json?: unknown }>

/** Loads the keys that a URI leads to. */
export type LoadKeys = (uri: string, get: GetJson) => Promise<Loaded>

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

interface Entry {
  keys: PublishedKeySet | undefined
  /** Epoch seconds at which `keys` were fetched. */
  fetchedAt: number
  /** Epoch seconds of the last attempt. */
  triedAt: number
  /** Epoch seconds of the last attempt because of an unknown key. */
  unknownAt: number
  /** Why the last attempt has failed, if it has. */
  problem: UnavailableReason
  pending: FetchAttempt | undefined
}

const never = Number.NEGATIVE_INFINITY
const notTried = { triedAt: never, unknownAt: never, pending: undefined }

/** The number of URIs whose keys a process remembers. */
const maxEntries = 1000

/** The part of `maxAge` after which keys are fetched again, while requests still use the old ones and wait for nothing. */
const renewalAge = 0.75

/**
 * Whether keys can be fetched again. The cooldown is that of attempts that have failed, and of unknown keys: it does not
 * delay the fetch after `maxAge`, which could be shorter, and not that of a key which was published after a fetch for
 * another reason.
 */
function isDueAt(
  now: number,
  { fetchedAt, triedAt, unknownAt }: Entry,
  cooldown: number,
  { isUnknown, isOutdated }: { readonly isUnknown: boolean; readonly isOutdated: boolean },
): boolean {
  if (fetchedAt !== triedAt) return now >= triedAt + cooldown
  if (isUnknown) return now > triedAt && now >= unknownAt + cooldown
  return isOutdated || now >= triedAt + cooldown
}

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
 */
export function createPublishedKeys(
  settings: JwksUriSettings,
  { load = loadJwks, limits }: { readonly load?: LoadKeys; readonly limits?: FetchLimits } = {},
): PublishedKeys {
  const { timeout, maxSize, maxAge, cooldown, maxWaiting, allowPrivateAddresses, fetch: send } = settings
  const fetchGuarded = createGuardedFetch({ allowPrivateAddresses, send })
  const waits = createFetchWaits({ maxWaiting, timeout })
  const budget = limits && createFetchBudget(limits)
  const entries = new Map<string, Entry>()

  function entryOf(uri: string): Entry {
    const known = entries.get(uri)
    const entry = known ?? { keys: undefined, fetchedAt: 0, problem: 'keys_unavailable', ...notTried }
    // The least recently used entry is the first one.
    entries.delete(uri)
    entries.set(uri, entry)
    const [oldest] = entries.keys()
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
    return entry
  }

  async function renew(entry: Entry, uri: string, now: number): Promise<void> {
    const headers = { accept: 'application/jwk-set+json, application/json' }
    const loaded = await load(uri, async (url, share = 1) =>
      jsonIn(await fetchGuarded(url, { headers, timeout: timeout * share, maxSize, now })),
    )
    // A later attempt has replaced this one.
    if (entry.triedAt !== now) return
    entry.pending = undefined
    if ('find' in loaded) Object.assign(entry, { keys: loaded, fetchedAt: now })
    else if (loaded.problem === 'busy') Object.assign(entry, notTried)
    else entry.problem = loaded.problem === 'address_refused' ? 'keys_address_refused' : 'keys_unavailable'
  }

  /**
   * Returns the keys, or why they are not available; `busy` if too many requests wait.
   *
   * @param isUnknown whether a JWT names a key that is not among the remembered ones
   */
  async function find(
    uri: string,
    now: number,
    isUnknown: boolean,
    clientAddress: string | undefined,
  ): Promise<PublishedKeySet | KeysUnavailable | 'busy'> {
    const entry = entryOf(uri)
    // When a Worker ends a request, a fetch that the request started may never settle.
    if (entry.pending !== undefined && now > entry.triedAt + timeout) Object.assign(entry, notTried)
    const isYoungerThan = (age: number): boolean => entry.keys !== undefined && now < entry.fetchedAt + age
    const mustWait = isUnknown || !isYoungerThan(maxAge)
    const isNeeded = (mustWait || !isYoungerThan(maxAge * renewalAge)) && entry.pending === undefined
    const isDue = isDueAt(now, entry, cooldown, { isUnknown, isOutdated: !isYoungerThan(maxAge) })
    if (isNeeded && isDue && budget?.take(clientAddress, now) === undefined) {
      entry.triedAt = now
      if (isUnknown) entry.unknownAt = now
      entry.pending = waits.start(now, () => renew(entry, uri, now))
    }
    if (mustWait && entry.pending !== undefined && !(await waits.wait(entry.pending, now))) return 'busy'
    if (entry.keys !== undefined && isYoungerThan(maxAge)) return entry.keys
    // Too many other fetches are in progress.
    return entry.triedAt === notTried.triedAt ? 'busy' : { reason: entry.problem }
  }

  return {
    async verify(uri, kit, verify, clientAddress) {
      const now = kit.now()
      const keys = await find(uri, now, false, clientAddress)
      if (keys === 'busy') {
        const text = 'The service is temporarily unavailable'
        throw kit.refuse('temporarily_unavailable', text, 'keys_busy', { retryAfter: 1 })
      }
      if ('reason' in keys) return keys
      const outcome = await verify(keys)
      if (outcome.reason !== 'key_unknown' && outcome.reason !== 'signature_mismatch') return outcome
      const renewed = await find(uri, now, true, clientAddress)
      return renewed === 'busy' || renewed === keys || 'reason' in renewed ? outcome : verify(renewed)
    },
  }
}
