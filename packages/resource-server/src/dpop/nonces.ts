import { encode } from 'jose/base64url'
import { assertMembers, seconds } from '../option-checks.ts'

/** Nonces of this API (RFC 9449 section 9). */
export interface NonceOptions {
  /**
   * At least 32 characters, the same in all processes. Default: a random one, so that a nonce is valid in one process.
   */
  readonly secret?: string | undefined
  /** Seconds after which a new nonce is sent. The one before it remains valid. Default: 300. */
  readonly lifetime?: number | undefined
}

/** Creates nonces and recognizes them. They need no storage: each is a code of its generation. */
export interface Nonces {
  /** Returns the nonce of the current generation. */
  current(): Promise<string>
  /** Returns whether a nonce is valid, and until when (epoch seconds); whether a newer one exists. */
  check(nonce: string): Promise<{ readonly until: number; readonly isLatest: boolean } | undefined>
}

/** @throws TypeError with one sentence for a mistake in the options */
export function createNonces(options: NonceOptions, now: () => number): Nonces {
  assertMembers(options, ['secret', 'lifetime'], 'dpop.nonce')
  const { secret } = options
  if (secret !== undefined && (typeof secret !== 'string' || secret.length < 32)) {
    throw new TypeError('dpop.nonce.secret must have 32 or more characters')
  }
  const lifetime = seconds(options.lifetime, 300, [30, 3600], 'dpop.nonce.lifetime')
  const known = new Map<number, Promise<string>>()
  let key: Promise<CryptoKey> | undefined

  function importKey(): Promise<CryptoKey> {
    const bytes = secret === undefined ? crypto.getRandomValues(new Uint8Array(32)) : new TextEncoder().encode(secret)
    return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  }

  async function create(generation: number): Promise<string> {
    // Created in the first request: Workers allow no random values outside of one.
    key ??= importKey()
    const code = await crypto.subtle.sign('HMAC', await key, new TextEncoder().encode(`dpop-nonce ${generation}`))
    return encode(new Uint8Array(code))
  }

  function nonceOf(generation: number): Promise<string> {
    const nonce = known.get(generation) ?? create(generation)
    known.set(generation, nonce)
    const [oldest = generation] = known.keys()
    if (known.size > 3) known.delete(oldest)
    return nonce
  }

  const generation = (): number => Math.floor(now() / lifetime)

  return {
    current: () => nonceOf(generation()),

    async check(nonce) {
      const latest = generation()
      for (const each of [latest, latest - 1]) {
        if (nonce === (await nonceOf(each))) return { until: (each + 2) * lifetime, isLatest: each === latest }
      }
      return undefined
    },
  }
}
