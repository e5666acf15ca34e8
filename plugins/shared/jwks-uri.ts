import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { functionSchema, seconds } from './config-schema.ts'
import { fetchedUriProblem, readBody, type SendRequest } from './guarded-fetch.ts'
import { type PublishedKeySet, publishedKeySet } from './key-set.ts'

export const jwksUriSettingsSchema = configurationObject({
  /** Seconds for the whole response. */
  timeout: v.optional(seconds(0.1, 30), 5),
  /** Bytes of the response. */
  maxSize: v.optional(v.pipe(v.number('must be a number of bytes'), v.minValue(1, 'must be 1 or more bytes')), 65_536),
  /** Seconds after which the keys are fetched again: how long a key is accepted that its owner has removed. */
  maxAge: v.optional(seconds(1, 86_400), 600),
  /** Seconds between two attempts, when the keys cannot be fetched or a JWT names an unknown key. */
  cooldown: v.optional(seconds(1, 3600), 30),
  /** Allows IP addresses and names of the local network in `jwksUri`. */
  allowPrivateAddresses: v.optional(v.boolean('must be true or false'), false),
  /** Replaces the global `fetch`, for example to send requests through a proxy that blocks private addresses. */
  fetch: functionSchema<SendRequest>(),
})

export type JwksUriSettings = v.InferOutput<typeof jwksUriSettingsSchema>

/** The schema of `jwksUri`. It cannot see which address a name resolves to. */
export const jwksUriSchema = (allowPrivateAddresses: boolean) =>
  v.pipe(
    v.string('must be a URL'),
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? fetchedUriProblem(dataset.value, { allowPrivateAddresses }) : undefined
      if (message !== undefined) addIssue({ message })
    }),
  )

function parseKeys(text: string): PublishedKeySet | undefined {
  try {
    return publishedKeySet(JSON.parse(text))
  } catch {
    // Not JSON: the caller reports that the keys are unavailable.
    return undefined
  }
}

interface Entry {
  keys: PublishedKeySet | undefined
  /** Epoch seconds at which `keys` were fetched. */
  fetchedAt: number
  /** Epoch seconds of the last attempt. */
  triedAt: number
  pending: Promise<void> | undefined
}

const notTried = { triedAt: Number.NEGATIVE_INFINITY, pending: undefined }

/** The number of URIs whose keys a process remembers. */
const maxEntries = 1000

/** The keys that clients and issuers publish at their `jwksUri`. */
export interface PublishedKeys {
  /**
   * Verifies a JWT or a certificate with the keys that are published at this URI. If they do not contain its key, fetches
   * them again: the owner may have published another key, with or without an id.
   *
   * @param now epoch seconds
   */
  verify<O extends { readonly reason?: string | undefined }>(
    uri: string,
    now: number,
    verify: (keys: PublishedKeySet) => Promise<O>,
  ): Promise<O | { readonly reason: string; readonly payload?: undefined }>
}

export function createPublishedKeys(settings: JwksUriSettings): PublishedKeys {
  const { timeout, maxSize, maxAge, cooldown, fetch: send = (url, init) => fetch(url, init) } = settings
  const entries = new Map<string, Entry>()

  function entryOf(uri: string): Entry {
    const known = entries.get(uri)
    const entry = known ?? { keys: undefined, fetchedAt: 0, ...notTried }
    // The least recently used entry is the first one.
    entries.delete(uri)
    entries.set(uri, entry)
    const [oldest] = entries.keys()
    if (entries.size > maxEntries && oldest !== undefined) entries.delete(oldest)
    return entry
  }

  async function load(uri: string): Promise<PublishedKeySet | undefined> {
    try {
      const response = await send(uri, {
        headers: { accept: 'application/jwk-set+json, application/json' },
        // A redirect could lead to an address that `jwksUri` must not have.
        redirect: 'manual',
        signal: AbortSignal.timeout(timeout * 1000),
      })
      if (response.status !== 200) {
        await response.body?.cancel()
        return undefined
      }
      const text = await readBody(response, maxSize)
      return text === undefined ? undefined : parseKeys(text)
    } catch {
      // The host is unreachable or too slow. The event of the refused request names the reason.
      return undefined
    }
  }

  async function renewed(entry: Entry, uri: string, now: number): Promise<void> {
    entry.triedAt = now
    const keys = await load(uri)
    // A later attempt has replaced this one.
    if (entry.triedAt !== now) return
    entry.pending = undefined
    if (keys === undefined) return
    entry.keys = keys
    entry.fetchedAt = now
  }

  /**
   * Returns the keys; `undefined` if they are not available.
   *
   * @param renew whether a JWT names a key that is not among the remembered ones
   */
  async function find(uri: string, now: number, renew: boolean): Promise<PublishedKeySet | undefined> {
    const entry = entryOf(uri)
    // When a Worker ends a request, a fetch that the request started may never settle.
    if (entry.pending !== undefined && now > entry.triedAt + timeout) Object.assign(entry, notTried)
    const isFresh = (): boolean => entry.keys !== undefined && now < entry.fetchedAt + maxAge
    // The cooldown does not delay the fetch after `maxAge`, which could be shorter, unless the last attempt failed.
    const isDue = now >= entry.triedAt + cooldown || (!isFresh() && entry.fetchedAt === entry.triedAt)
    if ((!isFresh() || renew) && entry.pending === undefined && isDue) {
      entry.pending = renewed(entry, uri, now)
    }
    if (!isFresh() || renew) await entry.pending
    return isFresh() ? entry.keys : undefined
  }

  return {
    async verify(uri, now, verify) {
      const keys = await find(uri, now, false)
      if (keys === undefined) return { reason: 'keys_unavailable' }
      const outcome = await verify(keys)
      if (outcome.reason !== 'key_unknown' && outcome.reason !== 'signature_mismatch') return outcome
      const renewed = await find(uri, now, true)
      return renewed === undefined || renewed === keys ? outcome : verify(renewed)
    },
  }
}
