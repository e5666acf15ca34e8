import type { EndpointKit, EndpointRequest } from '@grantry/core'
import * as v from 'valibot'
import { browserCookie, type SameSite } from '../shared/browser-cookie.ts'
import type { Suspension } from './interaction.ts'
import { assertShown } from './shown-page.ts'

const texts = v.record(v.string(), v.string())

const schema = v.object({
  params: texts,
  /** The SHA-256 of the secret of the browser. */
  browser: v.string(),
  startedAt: v.number(),
  expiresAt: v.number(),
  /** The `request_uri` of a pushed request. */
  pushed: v.exactOptional(v.string()),
  /** The epoch of the client when it pushed the request. */
  clientEpoch: v.exactOptional(v.string()),
  confirmation: v.exactOptional(texts),
  progress: v.object({ signedIn: v.exactOptional(v.string()), chosen: v.exactOptional(v.string()) }),
})

/** A suspended request, as it is stored. */
export type SuspendedRecord = v.InferOutput<typeof schema>

/** 256 random bits. */
const idForm = /^[\w-]{43}$/u

const keyOf = (id: string): string => `interaction:${id}`

/** Keeps authorization requests while their users are busy. A request belongs to the browser that sent it. */
export interface SuspendedRequests {
  /**
   * Returns the suspension, and the cookies for the reply.
   *
   * @throws OAuthError when too many requests are waiting, or the browser would not show a page.
   */
  store(
    kit: EndpointKit,
    http: EndpointRequest,
    request: Omit<SuspendedRecord, 'browser'>,
  ): Promise<{ readonly suspension: Suspension; readonly cookies: readonly string[] }>
  /** Returns `undefined` if it is unknown, has expired, was used, or belongs to another browser. */
  find(kit: EndpointKit, http: EndpointRequest, id: string): Promise<SuspendedRecord | undefined>
  /** Finds a request without its browser. Answer it only if its browser returns. */
  peek(kit: EndpointKit, id: string): Promise<SuspendedRecord | undefined>
  update(kit: EndpointKit, id: string, request: SuspendedRecord): Promise<void>
  /** Ends it. `false` if it has ended before. */
  use(kit: EndpointKit, id: string, request: SuspendedRecord): Promise<boolean>
}

/** @param sameSite of the cookie of the browser */
export function createSuspendedRequests(sameSite: SameSite = 'lax'): SuspendedRequests {
  const cookieOf = browserCookie('grantry-browser', idForm, sameSite)
  return {
    async store(kit, http, request) {
      assertShown(http, sameSite)
      const id = kit.randomId()
      const known = cookieOf(kit).read(http)
      const secret = known ?? kit.randomId()
      const { expiresAt } = request
      const suspension = { id, browser: kit.sha256(secret), expiresAt }
      const value = { ...request, browser: suspension.browser }
      await kit.limitWaiting(http, {
        value,
        store: () => kit.records.put(keyOf(id), value, expiresAt),
        remove: () => kit.records.delete(keyOf(id)),
      })
      return { suspension, cookies: known === undefined ? [cookieOf(kit).write(secret)] : [] }
    },

    async find(kit, http, id) {
      const browser = cookieOf(kit).read(http)
      if (browser === undefined || !idForm.test(id)) return undefined
      const found = await kit.records.get(keyOf(id), schema)
      return found !== undefined && kit.equals(found.browser, kit.sha256(browser)) ? found : undefined
    },

    peek: async (kit, id) => (idForm.test(id) ? kit.records.get(keyOf(id), schema) : undefined),

    update: (kit, id, request) => kit.records.put(keyOf(id), request, request.expiresAt),

    async use(kit, id, { expiresAt }) {
      // An insert, because only that is atomic across processes.
      const isFirst = await kit.records.insert(`used interaction:${id}`, true, expiresAt)
      if (isFirst) await kit.records.delete(keyOf(id))
      return isFirst
    },
  }
}
