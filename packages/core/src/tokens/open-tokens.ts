import type { ClientDirectory } from '../directory/client-directory.ts'
import type { UserService } from '../directory/user-service.ts'
import type { Recorder } from '../events/recorder.ts'
import type { KeyRing } from '../keys/key-ring.ts'
import type { Kit } from '../parts/kit.ts'
import type { KeyProofs, TokenBindings } from '../parts/token-binding.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import { type AccessTokens, createAccessTokens } from './access-token.ts'
import { createAccessTokenClaims, type ScopeClaims } from './access-token-claims.ts'
import { createAuthorizationStatus, createDenyList } from './authorization-status.ts'
import { createIdentityTokens, type IdentityTokens } from './identity-token.ts'
import { createInspect, type Inspect } from './inspect.ts'
import type { Jwt } from './jwt.ts'
import { createRevision } from './revision.ts'
import { createRevocationEpochs, type RevocationEpochs } from './revocation-epochs.ts'
import {
  createIsUnchanged,
  createNewRevocationMark,
  type IsUnchanged,
  type NewRevocationMark,
} from './revocation-mark.ts'
import { createRevoke, type Revoke } from './revoke.ts'
import { createFamilies, createStoredGrants, type Families, type StoredGrants } from './stored-grant.ts'

/** The tokens of a provider, and what revokes them. */
export interface Tokens {
  readonly accessTokens: AccessTokens
  readonly identityTokens: IdentityTokens
  readonly keyProofs: KeyProofs
  readonly storedGrants: StoredGrants
  readonly families: Families
  readonly revocationEpochs: RevocationEpochs
  readonly newRevocationMark: NewRevocationMark
  readonly isUnchanged: IsUnchanged
  readonly revoke: Revoke
  readonly renewClient: RevocationEpochs['renewClient']
  readonly inspect: Inspect
}

export function openTokens({
  clients,
  users,
  scopeRules,
  keys,
  jwt,
  bindings,
  kitOf,
  clockTolerance,
  clientTokenSubject,
  recorder,
  ...shared
}: {
  readonly issuer: string
  readonly clients: ClientDirectory
  readonly users: UserService
  readonly scopeRules: () => ScopeClaims
  readonly keys: KeyRing
  readonly jwt: Jwt
  readonly bindings: TokenBindings
  readonly kitOf: (plugin: string) => Kit
  readonly clockTolerance: number
  readonly clientTokenSubject: 'none' | 'client_id'
  readonly store: Store
  readonly recorder: Recorder
  readonly runtime: Runtime
}): Tokens {
  const { issuer, store, runtime } = shared
  const { observed } = recorder
  const revision = createRevision(shared)
  const families = createFamilies({ store, revision, runtime, recorder })
  const revocationEpochs = createRevocationEpochs({ ...shared, revision })
  const authorizationStatus = createAuthorizationStatus({ clients, users, store, families, revocationEpochs })
  const accessTokens = createAccessTokens({
    ...shared,
    scopeRules,
    claimsOf: createAccessTokenClaims({ issuer, clientTokenSubject }),
    families,
    denyList: createDenyList(shared),
    revision,
    authorizationStatus,
    jwt,
    bindings,
    clockTolerance,
    observed,
  })
  const identityTokens = createIdentityTokens({ ...shared, keys, jwt, authorizationStatus, observed })
  const storedGrants = createStoredGrants({ ...shared, clients, families, revocationEpochs, revision })
  return {
    accessTokens,
    identityTokens,
    keyProofs: bindings.createKeyProofs({ ...shared, kitOf }),
    storedGrants,
    families,
    revocationEpochs,
    newRevocationMark: createNewRevocationMark({ store, revision, revocationEpochs, clients, runtime }),
    isUnchanged: createIsUnchanged({ clients, runtime }),
    revoke: createRevoke({ revocationEpochs, families, recorder }),
    renewClient: revocationEpochs.renewClient,
    inspect: createInspect({ ...shared, accessTokens, identityTokens, storedGrants, authorizationStatus, jwt }),
  }
}
