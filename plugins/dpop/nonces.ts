import type { Kit } from '@grantry/core'
import * as v from 'valibot'

/** Nonces of this provider. They need no storage: each contains its generation, sealed. */
export interface Nonces {
  /** Returns the nonce of the current generation. */
  current(kit: Kit): Promise<string>
  /** Returns the generation of a nonce; `undefined` if it is not one of this provider, or is no longer valid. */
  generationOf(nonce: string, kit: Kit): Promise<number | undefined>
  /** The current generation. */
  generation(kit: Kit): number
  /** Epoch seconds until which a nonce of this generation is accepted. */
  expiryOf(generation: number): number
}

/** The maximum number of remembered nonces: clients send those of all processes, of two generations. */
const maxKnown = 100

/** @param lifetime seconds of a generation. A nonce is valid in its own and in the next one. */
export function createNonces(lifetime: number): Nonces {
  const created = new WeakMap<object, { readonly generation: number; readonly nonce: string }>()
  const known = new Map<string, number>()
  // While the lifetime is changed, processes number the generations differently.
  const sealedSchema = v.object({ generation: v.number(), lifetime: v.literal(lifetime) })

  const generation = (kit: Kit): number => Math.floor(kit.now() / lifetime)
  const expiryOf = (of: number): number => (of + 2) * lifetime

  return {
    generation,
    expiryOf,

    async current(kit) {
      const now = generation(kit)
      const last = created.get(kit.records)
      // The key that has sealed the nonce may have been retired since.
      const isReadable = last?.generation === now && (await kit.unseal(last.nonce, sealedSchema)) !== undefined
      if (isReadable) return last.nonce
      const nonce = await kit.seal({ generation: now, lifetime }, expiryOf(now))
      // Keeps the nonce, not its promise, which a Worker leaves pending when it ends the request. Two concurrent nonces
      // are both valid.
      created.set(kit.records, { generation: now, nonce })
      return nonce
    },

    async generationOf(nonce, kit) {
      const id = `${kit.issuer} ${nonce}`
      let issued = known.get(id)
      if (issued === undefined) {
        issued = (await kit.unseal(nonce, sealedSchema))?.generation
        if (issued === undefined) return undefined
        if (known.size >= maxKnown) known.clear()
        known.set(id, issued)
      }
      return expiryOf(issued) > kit.now() ? issued : undefined
    },
  }
}
