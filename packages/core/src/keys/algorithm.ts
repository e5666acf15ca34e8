import type { JWK } from 'jose'
import { algorithms, type SigningAlgorithm } from '../runtime.ts'

export const isSigningAlgorithm = (name: unknown): name is SigningAlgorithm =>
  algorithms.includes(name as SigningAlgorithm)

/** Returns the `alg` of a key, or the default algorithm of its key type; `undefined` if none fits. */
export function algorithmOf(jwk: JWK): SigningAlgorithm | undefined {
  if (jwk.alg !== undefined) return isSigningAlgorithm(jwk.alg) && fits(jwk, jwk.alg) ? jwk.alg : undefined
  return algorithms.find((algorithm) => fits(jwk, algorithm))
}

function fits({ kty, crv }: JWK, algorithm: SigningAlgorithm): boolean {
  if (algorithm === 'ES256') return kty === 'EC' && crv === 'P-256'
  if (algorithm === 'EdDSA') return kty === 'OKP' && crv === 'Ed25519'
  return kty === 'RSA'
}
