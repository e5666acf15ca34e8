import type { ValidationLimits } from './abuse/validation-limits.ts'
import type { ClientAuthentication } from './credentials/client.ts'
import type { ScopeAuthentication } from './credentials/scope.ts'
import type { ClientDirectory } from './directory/clients.ts'
import type { ScopeDirectory } from './directory/scopes.ts'
import type { UserClaims } from './directory/user-claims.ts'
import type { UserService } from './directory/user-service.ts'
import type { ErrorContext } from './errors/error-response.ts'
import type { Recorder } from './events/recorder.ts'
import type { Authorizations } from './grants/authorize.ts'
import type { Commit } from './grants/commit.ts'
import type { SettleDemands } from './grants/demands.ts'
import type { EndpointKitOf } from './grants/endpoint-kit.ts'
import type { CreateGrantKit } from './grants/kit.ts'
import type { Mint } from './grants/mint.ts'
import type { ScopePolicy } from './grants/scope-policy.ts'
import type { KeyRing } from './keys/key-ring.ts'
import type { AuthenticateUser } from './plugin/authenticate-user.ts'
import type { Store } from './records/store.ts'
import type { Registry } from './registry/registry.ts'
import type { Runtime } from './runtime.ts'
import type { AccessTokens } from './tokens/access-token.ts'
import type { Audiences } from './tokens/audience.ts'
import type { Families } from './tokens/family.ts'
import type { IdentityTokens } from './tokens/identity-token.ts'
import type { Inspect } from './tokens/inspect.ts'
import type { KeyProofs } from './tokens/key-proofs.ts'
import type { Revoke } from './tokens/revoke.ts'
import type { StoredGrants } from './tokens/stored-grant.ts'
import type { JsonObject } from './types.ts'

/** The services of a provider, created once. Each endpoint destructures those that it needs. */
export interface Services {
  readonly runtime: Runtime
  readonly recorder: Recorder
  readonly store: Store
  readonly keys: KeyRing

  readonly registry: Registry
  readonly errors: ErrorContext
  readonly clients: ClientDirectory
  readonly scopes: ScopeDirectory
  readonly users: UserService
  readonly userClaims: UserClaims

  readonly authenticateClient: ClientAuthentication
  readonly authenticateScope: ScopeAuthentication
  /** `undefined`: the validation of tokens is not limited. */
  readonly validationLimits: ValidationLimits | undefined

  readonly scopePolicy: ScopePolicy
  readonly createKit: CreateGrantKit
  readonly endpointKitOf: EndpointKitOf
  readonly mint: Mint
  readonly settleDemands: SettleDemands
  readonly commit: Commit

  readonly audiences: Audiences
  readonly accessTokens: AccessTokens
  readonly keyProofs: KeyProofs
  readonly identityTokens: IdentityTokens
  readonly storedGrants: StoredGrants
  readonly families: Families

  /** For the login page and the operator. */
  readonly authorizations: Authorizations
  readonly authenticateUser: AuthenticateUser
  readonly revoke: Revoke
  readonly inspect: Inspect

  /** The discovery document. */
  readonly metadata: JsonObject
  /** The absolute paths of the enabled endpoints, by name. */
  readonly paths: ReadonlyMap<string, string>

  /** The response to a scope about a token without that scope. */
  readonly unrelatedScope: 'inactive' | 'unauthorized'
  /** The maximum size of a body in bytes and of a query in characters. */
  readonly bodyLimit: number
}
