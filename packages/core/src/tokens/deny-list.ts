import type { MaybePromise } from '../json.ts'
import { hashOf, keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'

/** JWTs that were revoked before their end. One record each, by `jti`, for as long as the JWT would have lived: nothing is ever listed. */
export interface DenyList {
  /** @param id what the token is known by: its `jti` */
  isDenied(id: string): MaybePromise<boolean>
  /**
   * `true` when it was not denied before.
   *
   * @param until epoch seconds after which the JWT is refused anyway
   */
  deny(id: string, until: number): MaybePromise<boolean>
}

export function createDenyList({ store, runtime }: { readonly store: Store; readonly runtime: Runtime }): DenyList {
  const keyOfToken = (id: string): string => keyOf('denied', hashOf(id, runtime))
  return {
    isDenied: (id) => store.has(keyOfToken(id)),
    deny: (id, until) => store.insert(keyOfToken(id), { deniedAt: runtime.now() }, until),
  }
}
