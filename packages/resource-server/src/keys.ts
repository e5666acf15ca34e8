import type { CryptoKey, JSONWebKeySet, JWSHeaderParameters } from 'jose'
import { JWKSMultipleMatchingKeys } from 'jose/errors'
import { createLocalJWKSet } from 'jose/jwks/local'
import { type Cached, createCached } from './cached.ts'
import type { JsonFetch } from './json-fetch.ts'

/** Finds the keys that fit a header: one, or several if they are published without ids. Rejects if there is none. */
export type FindKeys = (header: JWSHeaderParameters) => Promise<readonly CryptoKey[]>

/** Keys that cannot be used are ignored (RFC 7517 section 5). */
export function keysOf(jwks: JSONWebKeySet): FindKeys {
  const find = createLocalJWKSet(jwks)
  return async (header) => {
    try {
      return [await find(header as Parameters<typeof find>[0])]
    } catch (error) {
      if (!(error instanceof JWKSMultipleMatchingKeys)) throw error
      const fitting: CryptoKey[] = []
      for await (const key of error) fitting.push(key)
      return fitting
    }
  }
}

/** How published keys are remembered. */
interface KeyTimes {
  readonly maxAge: number
  readonly maxStale: number
  readonly cooldown: number
  readonly maxWait: number
  readonly now: () => number
}

/** The keys that the issuer publishes. */
export const createPublishedKeys = (
  findUri: () => Promise<string>,
  fetchJson: JsonFetch,
  times: KeyTimes,
): Cached<FindKeys> =>
  createCached(async () => {
    const uri = await findUri()
    const { keys } = await fetchJson(uri)
    if (!Array.isArray(keys)) throw new Error(`${uri} has no keys`)
    return keysOf({ keys: keys.filter((key) => typeof key === 'object' && key !== null) })
  }, times)
