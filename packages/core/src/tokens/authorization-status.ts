import type { Client } from '../directory/client.ts'
import type { ClientDirectory } from '../directory/client-directory.ts'
import { type ActiveQuestion, isActive, type UserService } from '../directory/user-service.ts'
import { after, allOf } from '../promises.ts'
import { keyOf } from '../records/keys.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import type { MaybePromise } from '../types.ts'
import { type Epochs, outdated } from './epochs.ts'
import type { RevocationEpochs } from './revocation-epochs.ts'
import type { Families } from './stored-grant.ts'

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
  const keyOfToken = (id: string): string => keyOf('denied', runtime.sha256Hex(id))
  return {
    isDenied: (id) => store.has(keyOfToken(id)),
    deny: async (id, until) => store.insert(keyOfToken(id), { deniedAt: runtime.now() }, until),
  }
}

/** To whom a token was issued. */
export interface Issuance {
  readonly clientId: string
  /** `undefined` for a token without a user. */
  readonly sub: string | undefined
  readonly family: string | undefined
  readonly epochs: Epochs
  /** Whether nothing was revoked since the record was written, so family and epochs need not be read. Default: no. */
  readonly isCurrent?: boolean
  /** Set if the request asks for the claims of the user, too. */
  readonly question?: ActiveQuestion | undefined
}

/** The client, and why its token is not accepted; without a reason, it is. */
type AuthorizationState =
  | { readonly client: Client; readonly reason?: undefined }
  | {
      readonly client: Client | undefined
      readonly reason: 'client_disabled' | 'family_revoked' | 'user_inactive' | NonNullable<ReturnType<typeof outdated>>
    }

/** Checks whether tokens of an authorization are still accepted: client, family, epochs and user. */
export type AuthorizationStatus = (issuance: Issuance) => MaybePromise<AuthorizationState>

const none = [false, undefined] as const

export function createAuthorizationStatus(deps: {
  readonly clients: ClientDirectory
  readonly users: UserService
  readonly store: Store
  readonly families: Families
  readonly revocationEpochs: RevocationEpochs
}): AuthorizationStatus {
  const { clients, users, store, families, revocationEpochs } = deps
  return ({ clientId, sub, family, epochs: carried, isCurrent = false, question }) =>
    after(
      allOf([
        clients.find(clientId),
        isCurrent
          ? none
          : store.getAll([
              family !== undefined && families.revocationOf(family),
              revocationEpochs.current(clientId, sub, carried),
            ]),
        sub === undefined || isActive(users, sub, question),
      ]),
      ([client, [revoked, current], active]): AuthorizationState => {
        if (!client?.enabled) return { client, reason: 'client_disabled' }
        if (revoked) return { client, reason: 'family_revoked' }
        const outdatedBy = current && outdated(carried, current)
        if (outdatedBy !== undefined) return { client, reason: outdatedBy }
        return active ? { client } : { client, reason: 'user_inactive' }
      },
    )
}
