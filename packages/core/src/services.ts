import type { ValidationLimits } from './abuse/validation-limits.ts'
import type { Credentials } from './credentials/open-credentials.ts'
import type { ClientOptions } from './directory/client.ts'
import type { ClientDirectory } from './directory/client-directory.ts'
import type { Directory } from './directory/open-directory.ts'
import type { ScopeOptions } from './directory/scope.ts'
import type { ErrorContext } from './errors/error-response.ts'
import type { Recorder } from './events/recorder.ts'
import type { Grants } from './grants/open-grants.ts'
import type { ScopeRules } from './grants/scope-rules.ts'
import type { KeyRing } from './keys/key-ring.ts'
import type { Registry } from './parts/registry.ts'
import type { Store } from './records/store.ts'
import type { Runtime } from './runtime.ts'
import type { Tokens } from './tokens/open-tokens.ts'
import type { JsonObject } from './types.ts'

/** The services of a provider, created once. Each endpoint destructures those that it needs. */
export interface Services
  extends Pick<Directory, 'scopes' | 'users'>,
    Omit<Credentials, 'checkPassword'>,
    Omit<Tokens, 'revocationEpochs' | 'newRevocationMark' | 'isUnchanged'>,
    Grants {
  readonly runtime: Runtime
  readonly recorder: Recorder
  readonly store: Store
  readonly keys: KeyRing
  readonly registry: Registry
  readonly errors: ErrorContext
  /** The clients of the host and of plugins. */
  readonly clients: ClientDirectory
  /** `undefined`: the validation of tokens is not limited. */
  readonly validationLimits: ValidationLimits | undefined
  /** Returns what follows from the present scopes. A request with several steps calls it once. */
  readonly scopeRules: () => ScopeRules

  /** Returns the discovery document. */
  readonly metadata: () => JsonObject
  /** The absolute paths of the enabled endpoints, by name. */
  readonly paths: ReadonlyMap<string, string>

  /** The response to a scope about a token without that scope. */
  readonly unrelatedScope: 'inactive' | 'unauthorized'
  /**
   * @param moreScopes names of scopes that are not in `scopes` yet
   * @throws TypeError when the client could not be one of the host
   */
  readonly checkClient: (client: ClientOptions, moreScopes?: readonly string[]) => void
  /** @throws TypeError when the scope could not be one of the host. */
  readonly checkScope: (scope: ScopeOptions) => void
  /** The maximum size of a body in bytes and of a query in characters. */
  readonly bodyLimit: number
}
