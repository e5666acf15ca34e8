import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'

/** JWTs that were revoked before their end. One record each, by `jti`, for as long as the JWT would have lived: nothing is ever listed. */
export interface DenyList {
  isDenied(jti: string): Promise<boolean>
  /**
   * `true` when it was not denied before.
   *
   * @param until epoch seconds after which the JWT is refused anyway
   */
  deny(jti: string, until: number): Promise<boolean>
}

export function createDenyList({ store, runtime }: { readonly store: Store; readonly runtime: Runtime }): DenyList {
  const keyOfToken = (jti: string): string => keyOf('denied', hashOf(jti, runtime))
  return {
    isDenied: (jti) => store.has(keyOfToken(jti)),
    deny: (jti, until) => store.insert(keyOfToken(jti), { deniedAt: runtime.now() }, until),
  }
}
