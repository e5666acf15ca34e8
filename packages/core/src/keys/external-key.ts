import type { JWK } from 'jose'
import { createHostPort, defaultMaxCalls } from '../directory/host-port.ts'
import { isOAuthError, OAuthError } from '../errors/oauth-error.ts'
import type { Bytes, Runtime, SignatureKey } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'

/**
 * A private key in a key management service or hardware security module. The public key needs `alg` if its key type has
 * several algorithms.
 *
 * @example
 * const kmsKey: ExternalKey = { publicKey: { kty: 'EC', crv: 'P-256', x: '...', y: '...' }, sign: (data) =>
 * kms.sign(data) }
 */
export interface ExternalKey {
  /** The public key, without private members. */
  readonly publicKey: JWK
  /**
   * Signs the data. Must return the signature in JWS form (RFC 7518 section 3.4: the concatenation of r and s; many
   * services return DER instead). Called once at startup as a check. Every signature is verified; an invalid signature,
   * an error or a timeout results in 503.
   */
  sign(data: Bytes): MaybePromise<Uint8Array>
  /** Seconds after which a call fails. Default: 5. At most 128 calls run concurrently. */
  readonly timeLimit?: number | undefined
}

const defaultTimeLimit = 5

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

/** Creates a key that signs with the external signer and verifies locally. */
export function externalSignatureKey(
  external: ExternalKey,
  verifier: SignatureKey,
  runtime: Pick<Runtime, 'elapsed'>,
): SignatureKey {
  const { timeLimit = defaultTimeLimit } = external
  const call = createHostPort(port, { timeLimit, maxCalls: defaultMaxCalls, runtime })
  async function sign(data: Bytes): Promise<Uint8Array> {
    try {
      const signature: unknown = await call(() => external.sign(data))
      if (!(signature instanceof Uint8Array) || signature.length === 0) {
        throw new TypeError('The external signer returned no bytes')
      }
      // Otherwise a service that returns DER, or has switched to another key, would cause tokens that cannot be
      // verified, for codes that are spent.
      const bytes = new Uint8Array(signature)
      if (!(await verifier.verify(data, bytes))) {
        throw new TypeError('The external signer returned a signature that does not match its publicKey')
      }
      return bytes
    } catch (cause) {
      throw unavailable(cause)
    }
  }
  return { sign, verify: (data, signature) => verifier.verify(data, signature) }
}
