/**
 * What goes back, as data: the router may still add headers to it, and makes the one `Response` of a request out of it. A `Response` whose headers
 * are changed afterwards would have to build them first.
 */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

const json = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' } as const

/** Every `/connect/*` response, errors and preflights included: wire contract, section 1. */
export const neverStored = Object.freeze({
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
})

export const noStore = Object.freeze({ ...json, ...neverStored })

/** Seconds for which discovery and keys may be cached: long enough to spare the server, short enough for a new key to be seen before it signs. */
export const documentLifetime = 300

export const cacheable = Object.freeze({ ...json, 'cache-control': `public, max-age=${documentLifetime}` })

export const jsonAnswer = (body: unknown): Answer => ({ status: 200, headers: noStore, body: JSON.stringify(body) })

/** A document that is written once, at start. */
export function documentAnswer(document: unknown): Answer {
  return { status: 200, headers: cacheable, body: JSON.stringify(document) }
}
