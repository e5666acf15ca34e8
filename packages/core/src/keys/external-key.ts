import type { JWK } from 'jose'
import { createHostPort, usualMaxCalls } from '../directory/host-port.ts'
import { isOAuthError, OAuthError } from '../errors/oauth-error.ts'
import type { MaybePromise } from '../json.ts'
import type { Runtime, SignatureKey } from '../runtime.ts'

/**
 * A private key that somebody else holds: a key management service, a hardware module. Its public part names the algorithm (`alg`) where its kind has
 * several.
 *
 * @example
 * const kmsKey: ExternalKey = { publicKey: { kty: 'EC', crv: 'P-256', x: '...', y: '...' }, sign: (data) => kms.sign(data) }
 */
export interface ExternalKey {
  /** Public members only. */
  readonly publicKey: JWK
  /**
   * The signature in the form of a JWS (RFC 7518 section 3.4: r and s one after the other, where many services answer with DER). Tried at start, and each is
   * verified. What is not right, thrown, or takes too long, is answered 503.
   */
  sign(data: Uint8Array<ArrayBuffer>): MaybePromise<Uint8Array>
  /** Seconds that a signature may take; default 5. At most 128 are under way at once. */
  readonly timeLimit?: number
}

const usualTimeLimit = 5

export const isExternalKey = (key: unknown): key is ExternalKey =>
  typeof key === 'object' && key !== null && typeof (key as { readonly sign?: unknown }).sign === 'function'

const port = 'keys.sign'

const unavailable = (cause: unknown): OAuthError =>
  new OAuthError('temporarily_unavailable', 'The service is temporarily unavailable', {
    reason: 'signer_failed',
    port,
    cause: isOAuthError(cause) ? cause.cause : cause,
    retryAfter: 1,
  })

/** Verifies with the public part here, and lets the other sign. */
export function externalSignatureKey(
  external: ExternalKey,
  verifier: SignatureKey,
  runtime: Pick<Runtime, 'elapsed'>,
): SignatureKey {
  const { timeLimit = usualTimeLimit } = external
  const through = createHostPort(port, { timeLimit, maxCalls: usualMaxCalls, runtime })
  async function sign(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    try {
      const signature: unknown = await through(() => external.sign(data))
      if (!(signature instanceof Uint8Array) || signature.length === 0) {
        throw new TypeError('The external signer of keys answered with no bytes')
      }
      // A service that signs with another key since, or in DER, would spend codes for tokens that nobody can verify.
      const bytes = new Uint8Array(signature)
      if (!(await verifier.verify(data, bytes))) {
        throw new TypeError('The external signer of keys answered with a signature that is not of its publicKey')
      }
      return bytes
    } catch (cause) {
      throw unavailable(cause)
    }
  }
  return { sign, verify: (data, signature) => verifier.verify(data, signature) }
}
