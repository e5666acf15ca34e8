import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'

/** JWTs that were revoked before they expired: one record for each, until the JWT would have expired. */
export interface DenyList {
  /** @param id the `jti` of the token, or its signed part */
  isDenied(id: string): MaybePromise<boolean>
  /**
   * Denies a JWT. Returns `true` if it was not denied before.
   *
   * @param until epoch seconds after which the JWT has expired
   */
  deny(id: string, until: number): Promise<boolean>
}

export function createDenyList({ store, runtime }: { readonly store: Store; readonly runtime: Runtime }): DenyList {
  const keyOfToken = (id: string): string => keyOf('denied', hashOf(id, runtime))
  return {
    isDenied: (id) => store.has(keyOfToken(id)),
    deny: async (id, until) => store.insert(keyOfToken(id), { deniedAt: runtime.now() }, until),
  }
}
