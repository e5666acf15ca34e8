/**
 * A response as plain data. The router can add headers before it creates the `Response`, which is cheaper than changing
 * the headers of a `Response`.
 */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

const json = { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' } as const

/** Headers of every `/connect/*` response, including errors and preflights: wire contract, section 1. */
export const neverStored = Object.freeze({
  'cache-control': 'no-store',
  pragma: 'no-cache',
  'x-content-type-options': 'nosniff',
})

export const noStore = Object.freeze({ ...json, ...neverStored })

/**
 * Seconds for which discovery and keys can be cached: long enough to reduce load, short enough for clients to see a new
 * key before it signs.
 */
export const documentLifetime = 300

export const cacheable = Object.freeze({ ...json, 'cache-control': `public, max-age=${documentLifetime}` })

export const jsonAnswer = (body: unknown): Answer => ({ status: 200, headers: noStore, body: JSON.stringify(body) })

/** A cacheable JSON response, such as the discovery document. */
export function documentAnswer(document: unknown): Answer {
  return { status: 200, headers: cacheable, body: JSON.stringify(document) }
}
