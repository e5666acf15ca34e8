import { createHash } from 'node:crypto'
import {
  type ImportFunction,
  importAuth0,
  importHydra,
  importKeycloak,
  importOidcProvider,
} from '@grantry/administration/import'
import type { ClientOptions } from '@grantry/core'
import { fixture, clients as fixtureClients } from './fixture.ts'

/** What an import needs to know about passwords. */
const ports = {
  keycloakPasswordHash: () => undefined,
  passwordHashProblem: () => undefined,
  hashPassword: async (password: string) => `hash of ${password}`,
}
/** Reads an export of one file. */
export const read = (importFrom: ImportFunction, content: unknown) =>
  importFrom([{ path: 'export.json', content }], ports)

export type Exported = Readonly<Record<string, unknown>>

/** One client `machine` with a plain secret, of each system that has some. */
export const plain: readonly (readonly [
  name: string,
  from: ImportFunction,
  of: (secret: string, more?: Exported) => unknown,
])[] = [
  [
    'keycloak',
    importKeycloak,
    (secret, more) => ({
      realm: 'r',
      clients: [{ clientId: 'machine', secret, serviceAccountsEnabled: true, standardFlowEnabled: false, ...more }],
    }),
  ],
  [
    'auth0',
    importAuth0,
    (client_secret, more) => ({
      clients: [{ client_id: 'machine', client_secret, grant_types: ['client_credentials'], ...more }],
    }),
  ],
  [
    'hydra',
    importHydra,
    (client_secret, more) => [
      { client_id: 'machine', client_secret, grant_types: ['client_credentials'], scope: '', ...more },
    ],
  ],
  [
    'oidc-provider',
    importOidcProvider,
    (client_secret, more) => [
      { client_id: 'machine', client_secret, grant_types: ['client_credentials'], scope: '', ...more },
    ],
  ],
]

export const hash = (secret: string) => createHash('sha256').update(secret).digest('base64')
const secondSecret = { sha256: hash('another secret of it') }

/** The status of a token request of an imported client, with its secrets and without what plugins add. */
export async function statusOf(clients: readonly object[], secret: string): Promise<number> {
  const [{ secrets = [] } = {}] = clients as readonly Pick<ClientOptions, 'secrets'>[]
  const machine = {
    clientId: 'machine',
    grantTypes: ['client_credentials'],
    scopes: ['api1'],
    secrets: [...secrets, secondSecret],
  }
  const f = await fixture({ clients: [machine, ...fixtureClients] })
  return (await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, ['machine', secret])).status
}
