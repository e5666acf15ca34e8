import type { ScopeDirectory } from '../directory/scopes.ts'
import { createUserClaims } from '../directory/user-claims.ts'
import type { UserService } from '../directory/user-service.ts'
import type { Registry } from '../parts/registry.ts'
import type { ScopeClaims } from '../tokens/access-token-claims.ts'
import { createAudiences } from '../tokens/audience.ts'
import { createScopePolicy, type ScopePolicy } from './scope-policy.ts'

/** What follows from the scopes at one time. A request takes it once, so that a change does not reach it halfway. */
export interface ScopeRules extends ScopeClaims {
  readonly policy: ScopePolicy
}

export const createScopeRules = (
  directory: ScopeDirectory,
  { issuer, unavailableScopes }: { readonly issuer: string; readonly unavailableScopes: 'ignore' | 'refuse' },
  users: UserService,
  registry: Registry,
): ScopeRules => ({
  policy: createScopePolicy(directory, registry, unavailableScopes),
  audiences: createAudiences(issuer, directory),
  userClaims: createUserClaims(directory, users),
  lasting: directory.lasting,
})
