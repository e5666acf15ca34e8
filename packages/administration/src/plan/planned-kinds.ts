import { hashSecret } from '@grantry/core'
import { clientType } from '../clients/client-type.ts'
import { needsNewSecret } from '../clients/manage-clients.ts'
import { scopeType } from '../scopes/scope-type.ts'
import { userType } from '../users/user-type.ts'
import { type PlannedKind, plannedKind } from './planned-kind.ts'

const scopes = plannedKind({
  type: scopeType,
  list: 'scopes',
  kept: () => [scopeType.switch, 'secrets', 'grantedSince'],
  initial: [],
  hashes: ['secrets'],
  sets: ['secrets', 'claims', 'audience'],
  managerOf: (managers) => managers.scopes,
})

const clients = plannedKind({
  type: clientType,
  list: 'clients',
  // A client that becomes public loses them.
  kept: (declared) => [clientType.switch, ...(declared.public === true ? [] : ['secrets'])],
  initial: [],
  hashes: ['secrets'],
  sets: [
    'secrets',
    'grantTypes',
    'scopes',
    'redirectUris',
    'postLogoutRedirectUris',
    'allowedCorsOrigins',
    'identityProviders',
    'contacts',
    'workload',
    'jwks',
  ],
  managerOf: (managers) => managers.clients,
  complete(value, newSecret) {
    if (!needsNewSecret(value)) return { value }
    const secret = newSecret()
    return { value: { ...value, secrets: [hashSecret(secret)] }, secret }
  },
})

const users = plannedKind({
  type: userType,
  list: 'users',
  kept: () => [userType.switch],
  initial: ['password'],
  hashes: ['password'],
  sets: [],
  managerOf: (managers) => managers.users,
})

/** The kinds of a file, each after those that it refers to. */
export const plannedKinds: readonly PlannedKind[] = [scopes, clients, users]
