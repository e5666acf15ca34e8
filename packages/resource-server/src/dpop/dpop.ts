import type { CryptoKey } from 'jose'
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import { compactVerify } from 'jose/jws/compact/verify'
import { importJWK } from 'jose/key/import'
import type { Context } from '../context.ts'
import { sha256 } from '../digest.ts'
import { withTimeout } from '../json-fetch.ts'
import { algorithms, assertMembers, safeUrl, seconds } from '../option-checks.ts'
import type { PresentedRequest } from '../presented-request.ts'
import { isRefused, type Reason, type Refused, refused } from '../refusal.ts'
import { createNonces, type NonceOptions } from './nonces.ts'
import { readProof, type UnverifiedProof } from './proof.ts'
import { processReplayStore, type ReplayStore } from './replay-store.ts'
import { publicTarget, targetOf } from './target.ts'

const maxKeys = 1000

type VerifySignature = (proof: UnverifiedProof, thumbprint: string) => Promise<boolean>

/** Imported keys are kept, because a client uses the same key for each request. Only keys that have signed a proof. */
function createVerifySignature(): VerifySignature {
  const known = new Map<string, CryptoKey>()
  return async ({ jwt, alg, jwk }, thumbprint) => {
    const id = `${alg} ${thumbprint}`
    try {
      const key = known.get(id) ?? ((await importJWK(jwk, alg)) as CryptoKey)
      await compactVerify(jwt, key, { algorithms: [alg] })
      // The first key is the one that was used least recently.
      known.delete(id)
      known.set(id, key)
      const [oldest = id] = known.keys()
      if (known.size > maxKeys) known.delete(oldest)
      return true
    } catch {
      return false
    }
  }
}

/** How DPoP proofs are checked. */
export interface DpopProofOptions {
  /**
   * The public URL of this API, such as `https://api.example.com`, with the part of the path that a proxy removes. Proofs
   * are compared with it, not with the header `Host`, which the sender of a stolen proof chooses.
   */
  readonly baseUrl: string
  /** The accepted algorithms. Default: `ES256`, `PS256`, `EdDSA`, `Ed25519`. */
  readonly algorithms?: readonly string[] | undefined
  /** Seconds after `iat` until which a proof is accepted. Default: 60. */
  readonly maxAge?: number | undefined
  /** Seconds by which the clock of a client may be ahead. Default: 10. */
  readonly clockTolerance?: number | undefined
  /** Whether proofs must contain a nonce of this API, which then determines their age (RFC 9449 section 9). */
  readonly nonce?: boolean | NonceOptions | undefined
  /** Remembers the proofs that were used. Default: the memory of this process, for all resource servers in it. */
  readonly replayStore?: ReplayStore | undefined
}

/** A proof that is valid for a request and has not been spent yet. */
export interface DpopProof {
  /** Headers that the response must have. */
  readonly headers: Readonly<Record<string, string>>
  /** Remembers the proof. Returns the refusal if another request has used it. */
  spend(): Promise<Refused | undefined>
}

/** Checks the DPoP proofs of requests. */
export interface Dpop {
  readonly algorithms: readonly string[]
  /** @param thumbprint the key that the token is bound to */
  check(request: PresentedRequest, token: string, thumbprint: string): Promise<DpopProof | Refused>
  /** Returns the headers of a refusal. */
  headersFor(reason: Reason): Promise<Readonly<Record<string, string>>>
}

const optionNames = ['baseUrl', 'algorithms', 'maxAge', 'clockTolerance', 'nonce', 'replayStore']
const nonceHeader = 'dpop-nonce'

/**
 * Seconds by which the clocks of two processes can differ. The store forgets a proof by the clock of the process that
 * has accepted it. Without this margin, a process whose clock is behind would accept the proof again.
 */
const clockSkew = 60

function baseUrlOf(value: unknown): string {
  const url = safeUrl(value, 'dpop.baseUrl')
  if (/[?#]/u.test(url)) throw new TypeError('dpop.baseUrl must have no query and no fragment')
  return url
}

/** Stores the id of a proof. Returns the refusal of one that is already stored. */
async function spend(
  id: string,
  until: number,
  { replayStore, timeout }: { readonly replayStore: ReplayStore; readonly timeout: number },
): Promise<Refused | undefined> {
  try {
    const inserted = replayStore.insert(id, Math.ceil(until) + clockSkew)
    return (await withTimeout(Promise.resolve(inserted), timeout)) === true ? undefined : refused('replayed')
  } catch (error) {
    return refused('replay_store_unavailable', error)
  }
}

/**
 * Checks that the sender of a request has the key of its token.
 *
 * @throws TypeError with one sentence for a mistake in the options
 * @see RFC 9449 sections 4.3 and 7
 */
export function createDpop(options: DpopProofOptions, { rules: { now }, timeout }: Context): Dpop {
  assertMembers(options, optionNames, 'dpop')
  const baseUrl = baseUrlOf(options.baseUrl)
  const allowed = algorithms(options.algorithms, ['ES256', 'PS256', 'EdDSA', 'Ed25519'], 'dpop.algorithms')
  const maxAge = seconds(options.maxAge, 60, [10, 600], 'dpop.maxAge')
  const clockTolerance = seconds(options.clockTolerance, 10, [0, 60], 'dpop.clockTolerance')
  const { nonce = false, replayStore = processReplayStore(now) } = options
  const nonces = nonce === false ? undefined : createNonces(nonce === true ? {} : nonce, now)
  const verifySignature = createVerifySignature()
  /** The proofs that requests have spent, so that a second check of a request does not refuse its proof as used. */
  const spentBy = new WeakMap<object, { readonly id: string; readonly outcome: Promise<Refused | undefined> }>()

  /** Returns why a proof is not for this request. */
  async function problemWith(proof: UnverifiedProof, request: PresentedRequest, token: string) {
    const { exp, nbf } = proof.claims as { readonly exp?: number; readonly nbf?: number }
    if (!allowed.includes(proof.alg)) return 'proof_algorithm_not_allowed'
    if (proof.htm !== request.method) return 'htm_mismatch'
    const target = publicTarget(baseUrl, request.url)
    if (target === undefined || targetOf(proof.htu) !== target) return 'htu_mismatch'
    if (proof.ath !== (await sha256(token))) return 'ath_mismatch'
    if (exp !== undefined && !(exp > now() - clockTolerance)) return 'proof_too_old'
    return nbf !== undefined && !(nbf <= now() + clockTolerance) ? 'proof_in_future' : undefined
  }

  /** Checks how old a proof is. Returns the epoch seconds until which it would be accepted, and headers. */
  async function freshness({ iat, nonce: sent }: UnverifiedProof) {
    if (nonces === undefined) {
      if (iat > now() + clockTolerance) return refused('proof_in_future')
      if (iat < now() - maxAge) return refused('proof_too_old')
      return { until: iat + maxAge, headers: {} }
    }
    if (sent === undefined) return refused('nonce_missing')
    const known = await nonces.check(sent)
    if (known === undefined) return refused('nonce_invalid')
    // The client can use the new one before the old one expires (RFC 9449 section 8.2).
    return { until: known.until, headers: known.isLatest ? {} : { [nonceHeader]: await nonces.current() } }
  }

  return {
    algorithms: allowed,

    async headersFor(reason) {
      const isAboutNonce = reason === 'nonce_missing' || reason === 'nonce_invalid'
      return nonces !== undefined && isAboutNonce ? { [nonceHeader]: await nonces.current() } : {}
    },

    async check(request, token, thumbprint) {
      const header = request.headers.get('dpop')
      if (header === null) return refused('proof_missing')
      const proof = readProof(header)
      if (proof === undefined) return refused('proof_malformed')
      const problem = await problemWith(proof, request, token)
      if (problem !== undefined) return refused(problem)
      if ((await calculateJwkThumbprint(proof.jwk)) !== thumbprint) return refused('wrong_key')
      const fresh = await freshness(proof)
      if (isRefused(fresh)) return fresh
      if (!(await verifySignature(proof, thumbprint))) return refused('proof_signature_mismatch')
      const { until, headers } = fresh
      return {
        headers,
        async spend() {
          const id = await sha256(JSON.stringify([thumbprint, proof.jti]))
          const identity = request.identity ?? request
          const earlier = spentBy.get(identity)
          // Only the insertion is shared: each check has verified the proof for its own method, URL and token.
          const outcome = earlier?.id === id ? earlier.outcome : spend(id, until, { replayStore, timeout })
          spentBy.set(identity, { id, outcome })
          return outcome
        },
      }
    },
  }
}
