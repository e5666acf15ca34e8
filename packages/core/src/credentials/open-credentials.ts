import type { Limits } from '../abuse/open-limits.ts'
import type { ClientDirectory } from '../directory/clients.ts'
import type { ScopeDirectory } from '../directory/scopes.ts'
import type { UserService } from '../directory/user-service.ts'
import type { Recorder } from '../events/recorder.ts'
import type { AuthenticateUser } from '../parts/authenticate-user.ts'
import type { ClientAuthentication } from '../parts/client-authentication.ts'
import type { Kit } from '../parts/kit.ts'
import type { OwnedPart } from '../parts/plugin.ts'
import type { Runtime } from '../runtime.ts'
import { type AuthenticateClient, createClientAuthentication } from './authenticate-client.ts'
import { createScopeAuthentication, type ScopeAuthentication } from './authenticate-scope.ts'
import { createAuthenticateUser } from './login.ts'
import { createPasswordCheck, type PasswordCheck } from './password-check.ts'
import { createUserNames } from './user-names.ts'

/** How clients, scopes and users authenticate. */
export interface Credentials {
  readonly authenticateClient: AuthenticateClient
  readonly authenticateScope: ScopeAuthentication
  /** For login pages. */
  readonly authenticateUser: AuthenticateUser
  /** For grants. */
  readonly checkPassword: PasswordCheck
}

/** Opens the authentication of clients, scopes and users. */
export function openCredentials({
  methods,
  kitOf,
  clients,
  scopes,
  users,
  maxHostCalls,
  limits,
  runtime,
  recorder,
}: {
  readonly methods: readonly OwnedPart<ClientAuthentication>[]
  readonly kitOf: (plugin: string) => Kit
  readonly clients: ClientDirectory
  readonly scopes: ScopeDirectory
  readonly users: UserService
  readonly maxHostCalls: number
  readonly limits: Pick<Limits, 'passwordLimits' | 'clientLimits' | 'scopeLimits'>
  readonly runtime: Runtime
  readonly recorder: Recorder
}): Credentials {
  const { passwordLimits, clientLimits, scopeLimits } = limits
  const names = createUserNames(runtime)
  const checkPassword = createPasswordCheck({ users, maxHostCalls, limits: passwordLimits, names, recorder })
  return {
    authenticateClient: createClientAuthentication({
      methods,
      kitOf,
      clients,
      limits: clientLimits,
      runtime,
      recorder,
    }),
    authenticateScope: createScopeAuthentication({ methods, kitOf, scopes, limits: scopeLimits, runtime, recorder }),
    authenticateUser: createAuthenticateUser({ users, clients, checkPassword, names, recorder }),
    checkPassword,
  }
}
