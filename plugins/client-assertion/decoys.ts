import { generateKeyPair } from 'jose/key/generate/keypair'
import type { KeySet } from '../shared/key-set.ts'

/** Keys that no client has. Verifying with one takes as long as with the key of a client. */
export interface Decoys {
  keysFor(alg: string): KeySet
}

/** Generates each key when it is first needed, at most one for each algorithm that the plugin allows. */
export function createDecoys(): Decoys {
  const keys = new Map<string, ReturnType<typeof generateKeyPair>>()
  return {
    keysFor: (alg) => async () => {
      const pair = keys.get(alg) ?? generateKeyPair(alg)
      keys.set(alg, pair)
      return [(await pair).publicKey]
    },
  }
}
