import {
  addressGroupOf,
  type ClientOptions,
  isJsonObject,
  type Json,
  type JsonObject,
  type Kit,
  type UnknownCaller,
} from '@grantry/core'
import * as v from 'valibot'
import { createBulkhead } from '../shared/bulkhead.ts'
import { createFetchBudget } from '../shared/fetch-budget.ts'
import { createFetchWaits, type FetchAttempt } from '../shared/fetch-waits.ts'
import { createGuardedFetch } from '../shared/guarded-fetch.ts'
import type { Settings } from './client-metadata-options.ts'
import { documentOf, type Outcome } from './fetched-document.ts'
import { createKeptBytes } from './kept-bytes.ts'
import { lifetimeOf } from './lifetime.ts'
import type { RememberedOutcomes } from './remembered.ts'

/** Seconds for which a failure counts. */
export const failureLifetime = 10

/** Seconds for which a copy is used while the host sends no document. */
const copyLifetime = 86_400

/**
 * Seconds for which a copy is used while the client has got no token: longer than a sign-in takes. It is short because
 * any caller can name documents.
 */
const unusedCopyLifetime = 1800

const endOfCopy = (used: boolean, now: number): number => now + (used ? copyLifetime : unusedCopyLifetime)

/** Requests that wait for documents: half of the places that the look-ups of this plugin have by default. */
const maxWaiting = 64

/** The waiting requests of one address: an address with slow documents leaves places for others. */
const maxWaitingPerAddress = 8

/** A document in the records of the plugin, so that all processes have it. */
export const copySchema = v.object({
  document: v.custom<JsonObject>(isJsonObject),
  /** Epoch seconds. */
  freshUntil: v.number(),
  /** Whether the client has got a token while there was a copy. */
  used: v.optional(v.boolean()),
})

export type Copy = v.InferOutput<typeof copySchema>

export const copyKey = (url: string): string => `document:${url}`

/** The maximum number of origins of one document that are allowed in preflights. */
const maxOrigins = 8

/** A preflight names no client, only the origin of a page, so each origin of a document with a copy has a record. */
export const originSchema = v.literal(true)

export const originKey = (origin: string): string => `origin:${origin}`

const budgetProblems = {
  too_many_of_address: 'Too many client metadata documents are requested from this address',
  too_many: 'Too many client metadata documents are requested',
} as const

/** The document that a request waits for. */
export interface NeededDocument {
  readonly url: string
  /** Returns the client that a document describes, or why it describes none. */
  readonly outcomeOf: (document: JsonObject) => Outcome
  /** What the last document described, for as long as the host sends no other one. */
  readonly copy: Outcome | undefined
  /** Whether the client has got a token before. */
  readonly used: boolean
  readonly kit: Kit
  readonly caller: UnknownCaller | undefined
}

/**
 * Fetches a document, together with other requests for it.
 *
 * @throws OAuthError if the limits allow no fetch, and there is no copy.
 */
export type FetchTogether = (needed: NeededDocument) => Promise<Outcome>

const originsOf = ({ allowedCorsOrigins = [] }: ClientOptions): readonly string[] =>
  allowedCorsOrigins.slice(0, maxOrigins)

/** Keeps a document for all processes. Without the copy, they fetch it themselves. */
export async function keepCopy(url: string, copy: Copy, client: ClientOptions, kit: Kit): Promise<void> {
  const until = endOfCopy(copy.used === true, kit.now())
  const put = (key: string, value: Json) => kit.records.put(key, value, until).catch(() => undefined)
  const origins = originsOf(client)
  await Promise.all([put(copyKey(url), copy as Json), ...origins.map((origin) => put(originKey(origin), true))])
}

/** @throws OAuthError */
function busy({ kit }: NeededDocument): never {
  throw kit.refuse('temporarily_unavailable', budgetProblems.too_many, 'documents_busy', { retryAfter: 1 })
}

export function createFetchTogether(settings: Settings, remembered: RememberedOutcomes): FetchTogether {
  const { timeout, maxSize, defaultLifetime, allowPrivateAddresses, fetch: send } = settings
  const rules = { allowPrivateAddresses, allowLoopbackHttp: allowPrivateAddresses }
  const fetchGuarded = createGuardedFetch({ ...rules, send, maxRequests: 32, maxRequestsPerHost: 4 })
  const waits = createFetchWaits({ maxWaiting, timeout })
  const budget = createFetchBudget(settings)
  const places = createBulkhead({ all: maxWaiting, perKey: maxWaitingPerAddress })
  const kept = createKeptBytes(unusedCopyLifetime)
  const attempts = new Map<string, FetchAttempt>()

  /**
   * Fetches a document, and keeps it for all processes, unless a later attempt has replaced this one. Never rejects.
   */
  async function renew(
    { url, outcomeOf, copy, used, kit, caller }: NeededDocument,
    isReplaced: () => boolean,
  ): Promise<void> {
    const now = kit.now()
    const headers = { accept: 'application/json' }
    const fetched = await fetchGuarded(url, { headers, timeout, maxSize, accepts: ['application/json', '+json'], now })
    if (isReplaced()) return
    const result = documentOf(fetched)
    const outcome = 'document' in result ? outcomeOf(result.document) : result
    if ('client' in outcome && 'document' in result && fetched.problem === undefined) {
      const freshUntil = now + lifetimeOf(fetched.headers, defaultLifetime, now)
      remembered.set(url, outcome, freshUntil)
      // A client that has a token does not count: a user has signed in with it, so no stranger can use up this storage.
      const texts = [url + JSON.stringify(result.document), ...originsOf(outcome.client)]
      if (used || kept.take(caller?.clientAddress, texts, now)) {
        await keepCopy(url, { document: result.document, freshUntil, used }, outcome.client, kit)
      }
      return
    }
    const isOutage = 'reason' in outcome && outcome.isTemporary
    // Counted from the end of the attempt, because a host can be slow to fail.
    remembered.set(url, isOutage && copy !== undefined ? copy : outcome, kit.now() + failureLifetime)
    if (!isOutage) await kit.records.delete(copyKey(url)).catch(() => undefined)
  }

  function start(needed: NeededDocument, now: number): FetchAttempt {
    const { url } = needed
    const attempt: FetchAttempt = waits.start(now, () => renew(needed, () => attempts.get(url) !== attempt))
    attempts.set(url, attempt)
    void attempt.result.then(() => {
      if (attempts.get(url) === attempt) attempts.delete(url)
    })
    return attempt
  }

  /** Waits for the document, which it fetches unless that is in progress. */
  async function documentFor(needed: NeededDocument, now: number): Promise<Outcome> {
    const { url, copy, kit, caller } = needed
    const pending = attempts.get(url)
    const isPending = pending !== undefined && !waits.isLost(pending, now)
    const problem = isPending ? undefined : budget.take(caller?.clientAddress, now)
    if (problem !== undefined && copy !== undefined) return copy
    if (problem === 'too_many_of_address') {
      throw kit.refuse('slow_down', budgetProblems[problem], problem, { status: 429, retryAfter: 60 })
    }
    if (problem === 'too_many') {
      throw kit.refuse('temporarily_unavailable', budgetProblems[problem], problem, { retryAfter: 60 })
    }
    const isDone = await waits.wait(isPending ? pending : start(needed, now), now)
    const outcome = isDone ? remembered.get(url, kit.now()) : copy
    return outcome ?? busy(needed)
  }

  return async (needed) => {
    const address = needed.caller?.clientAddress
    const now = needed.kit.now()
    if (address === undefined) return documentFor(needed, now)
    const leave = places.enter(addressGroupOf(address), now)
    if (leave === undefined) return needed.copy ?? busy(needed)
    try {
      return await documentFor(needed, now)
    } finally {
      leave()
    }
  }
}
