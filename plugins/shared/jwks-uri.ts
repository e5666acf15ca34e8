import { configurationObject, parseUrl } from '@grantry/core'
import * as v from 'valibot'
import { functionSchema, seconds } from './config-schema.ts'
import { type PublishedKeySet, publishedKeySet } from './key-set.ts'

/** Sends the request for keys. Must not follow redirects. */
export type FetchKeys = (url: string, init: RequestInit) => Promise<Response>

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
  fetch: functionSchema<FetchKeys>(),
})

export type JwksUriSettings = v.InferOutput<typeof jwksUriSettingsSchema>

/**
 * Names that resolve to this machine or its network (RFC 6762 appendix G, and those of hosts files), or have no dot, so
 * that a search domain decides.
 */
const localName =
  /^[^.]*$|(?:^|\.)(?:localhost|localdomain[46]?|local|internal|intranet|private|corp|home|lan|home\.arpa)$/u
/** The parser of URLs writes every form of an IPv4 address with four decimal numbers. */
const address = /^(?:\d+\.){3}\d+$|^\[/u

/** Returns why a `jwksUri` is refused, if it is. */
export function jwksUriProblem(uri: string, allowPrivateAddresses: boolean): string | undefined {
  const url = uri.length > 2000 ? undefined : parseUrl(uri)
  if (url === undefined) return 'must be a URL'
  const { protocol, hostname, username, password, hash } = url
  if (protocol !== 'https:') return 'must use https'
  if (username !== '' || password !== '' || hash !== '') return 'must not contain a user or a fragment'
  const name = hostname.replace(/\.$/u, '')
  if (allowPrivateAddresses || !(address.test(name) || localName.test(name))) return undefined
  return 'must have the name of a public host, not an IP address'
}

/** The schema of `jwksUri`. It cannot see which address a name resolves to. */
export const jwksUriSchema = (allowPrivateAddresses: boolean) =>
  v.pipe(
    v.string('must be a URL'),
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed ? jwksUriProblem(dataset.value, allowPrivateAddresses) : undefined
      if (message !== undefined) addIssue({ message })
    }),
  )

/** Reads at most `maxSize` bytes of a body. Returns `undefined` for a longer one. */
async function readBody({ body }: Response, maxSize: number): Promise<string | undefined> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let [text, size] = ['', 0]
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > maxSize) {
      await reader.cancel()
      return undefined
    }
    text += decoder.decode(value, { stream: true })
  }
}

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
