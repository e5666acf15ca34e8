import type { CryptoKey } from 'jose'
import { compactVerify } from 'jose/jws/compact/verify'
import { importJWK } from 'jose/key/import'
import type { UnverifiedProof } from './proof.ts'

const maxKeys = 1000

export type VerifySignature = (proof: UnverifiedProof, thumbprint: string) => Promise<boolean>

/** Imported keys are kept, because a client uses the same key for each request. Only keys that have signed a proof. */
export function createVerifySignature(): VerifySignature {
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
