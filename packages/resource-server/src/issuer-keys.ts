import type { CryptoKey, JSONWebKeySet, JWK, JWSHeaderParameters } from 'jose'
import { JWKSMultipleMatchingKeys } from 'jose/errors'
import { createLocalJWKSet } from 'jose/jwks/local'
import { type Cached, createCached } from './cached.ts'
import type { JsonFetch } from './json-fetch.ts'

/** Finds the keys that fit a header: one, or two if they are published without ids. Rejects if there is none, or more. */
export type FindKeys = (header: JWSHeaderParameters) => Promise<readonly CryptoKey[]>

/** The maximum number of keys: more than any issuer publishes. A token without a key id causes a search through all. */
const maxKeys = 50

/** The most keys that are tried for a token without the id of its key: those before and after a rotation. */
const maxCandidates = 2

/**
 * Whether an RSA key has 2048 bits (RFC 7518 section 3.3) to 4096 bits, and an exponent of 32 bits: any caller can make
 * an API verify a signature, and the time grows with both. `jose` refuses shorter keys, which must not count as keys
 * that fit.
 */
const isBounded = ({ kty, n, e }: JWK): boolean =>
  kty !== 'RSA' ||
  (typeof n === 'string' && n.length >= 342 && n.length <= 683 && typeof e === 'string' && e.length <= 6)

/**
 * Keys that cannot be used are ignored (RFC 7517 section 5). The result for each header is remembered: keys that cannot
 * be imported would cost time in each request.
 */
export function keysOf({ keys }: JSONWebKeySet): FindKeys {
  const bounded = keys.filter(isBounded)
  const find = createLocalJWKSet({ keys: bounded })
  const ids = new Set([undefined, ...bounded.map(({ kid }) => kid)])
  const known = new Map<string, ReturnType<FindKeys>>()

  async function search(header: JWSHeaderParameters): Promise<readonly CryptoKey[]> {
    try {
      return [await find(header as Parameters<typeof find>[0])]
    } catch (error) {
      if (!(error instanceof JWKSMultipleMatchingKeys)) throw error
      const fitting: CryptoKey[] = []
      for await (const key of error) {
        if (fitting.length === maxCandidates) throw error
        fitting.push(key)
      }
      return fitting
    }
  }

  return (header) => {
    const { alg, kid } = header
    // A sender can choose any other id; no key has it, so nothing is imported.
    if (!ids.has(kid)) return search(header)
    const name = JSON.stringify([alg, kid])
    const matching = known.get(name) ?? search(header)
    known.set(name, matching)
    return matching
  }
}

/** How published keys are remembered. */
interface KeyTimes {
  readonly maxAge: number
  readonly maxStale: number
  readonly cooldown: number
  readonly maxWait: number
  readonly now: () => number
  /** Whether a key can belong to the issuer. */
  readonly owns: (jwk: Readonly<Record<string, unknown>>) => boolean
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
    if (keys.length > maxKeys) throw new Error(`${uri} has more than ${maxKeys} keys`)
    return keysOf({ keys: keys.filter((key) => typeof key === 'object' && key !== null && times.owns(key)) })
  }, times)
