import type { AbuseControl } from '../abuse/abuse-control.ts'
import type { Limits } from '../abuse/open-limits.ts'
import { createRefusalCheck, type RefusedSecrets } from '../directory/check-secret.ts'
import type { ClientDirectory } from '../directory/client-directory.ts'
import type { LiveScopes } from '../directory/scopes.ts'
import type { UserService } from '../directory/user-service.ts'
import type { Recorder } from '../events/recorder.ts'
import { missing } from '../parts/capability.ts'
import type { Kit } from '../parts/kit.ts'
import type { Registry } from '../parts/registry.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import { type AuthenticateClient, createClientAuthentication } from './authenticate-client.ts'
import { createScopeAuthentication, type ScopeAuthentication } from './authenticate-scope.ts'
import type { OpenPasswords, Passwords } from './passwords.ts'
import type { EpochOf } from './user-state.ts'

/** How clients, scopes and users authenticate. */
export interface Credentials extends Passwords {
  readonly authenticateClient: AuthenticateClient
  readonly authenticateScope: ScopeAuthentication
}

const authenticateUser = missing('authenticateUser', 'passwords')

/** For a provider whose plugins check no passwords. */
const noPasswords: Passwords = {
  authenticateUser,
  provedEpochOf: () => undefined,
  rememberAddress: async () => {},
  checkPassword: authenticateUser,
}

/** Opens the authentication of clients, scopes and users. */
export function openCredentials({
  registry: { authenticationMethods: methods, capabilities },
  kitOf,
  clients,
  scopes,
  limits: { clientLimits, scopeLimits },
  abuseControl,
  refusedSecrets,
  ...shared
}: {
  readonly registry: Pick<Registry, 'authenticationMethods' | 'capabilities'>
  readonly kitOf: (plugin: string) => Kit
  readonly clients: ClientDirectory
  readonly scopes: LiveScopes
  readonly users: UserService
  readonly maxHostCalls: number
  readonly limits: Pick<Limits, 'clientLimits' | 'scopeLimits'>
  readonly abuseControl: AbuseControl
  readonly refusedSecrets: RefusedSecrets
  readonly epochOf: EpochOf
  readonly issuer: string
  readonly store: Store
  readonly runtime: Runtime
  readonly recorder: Recorder
}): Credentials {
  const { runtime, recorder } = shared
  const open = capabilities.get('passwords')?.open as OpenPasswords | undefined
  const common = { methods, kitOf, isRefused: createRefusalCheck(refusedSecrets, runtime), runtime, recorder }
  return {
    authenticateClient: createClientAuthentication({ ...common, clients, limits: clientLimits }),
    authenticateScope: createScopeAuthentication({ ...common, scopes, limits: scopeLimits }),
    ...(open?.({ ...shared, clients, passwords: abuseControl.passwords }) ?? noPasswords),
  }
}
