import { nodeRuntime } from '@grantry/adapters/node'
import { openAdministration, type UserManager } from '@grantry/administration'
import { createProvider, type EntryStore, hashSecret, openEntries, parseConfiguration } from '@grantry/core'
import { postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { storeGrant } from '@grantry/testing'
import { providerOptions } from '../../packages/server/src/provider-options/provider-options.ts'
import { configurationSchema } from '../../test/support/configuration-schema.ts'
import type { PostgresqlServer } from '../../test/support/postgresql-server.ts'
import { idOf } from './fill.ts'

const issuer = 'https://id.example.com'
const secret = 'the-secret-of-each-client-of-the-benchmark'

const times = { createdAt: '2026-01-01T00:00:00.000Z', changedAt: '2026-01-01T00:00:00.000Z' }
const redirectUri = 'https://client.example.com/callback'

/** A client as `grantry clients add` stores it. */
export const clientValue = (clientId: string) => ({
  client: {
    clientId,
    secrets: [hashSecret(secret)],
    grantTypes: ['client_credentials', 'authorization_code'],
    scopes: ['api1', 'openid', 'profile'],
    redirectUris: [redirectUri],
  },
  tags: ['benchmark'],
  ...times,
})

/** A user as `grantry users add` stores it, without a password. */
export const userValue = (sub: string) => ({
  user: { sub, username: `name-${sub}`, claims: { name: `The user ${sub}`, email: `${sub}@example.com` } },
  tags: [],
  ...times,
})

/** The name of a user. */
export const nameValue = (sub: string) => ({ name: `name-${sub}`, sub })

/** The provider of the ready server, on a table of its own. */
export interface Service {
  readonly table: string
  readonly entries: EntryStore
  readonly users: UserManager
  /** Requests a token by client credentials. */
  token(clientId: string): Promise<void>
  /** Returns a code for a user, who has just signed in. */
  code(sub: string): Promise<string>
  /** Redeems a code. */
  redeem(code: string): Promise<void>
  close(): Promise<void>
}

async function open(server: PostgresqlServer, prefix: string) {
  const driver = postgresqlDriver({ url: server.url, prefix, maxConnections: 10 })
  await driver.open()
  const written = {
    issuer,
    storage: { driver: 'memory' },
    administration: true,
    clients: [],
    scopes: [{ name: 'api1' }],
  }
  const configuration = parseConfiguration(configurationSchema, written, '')
  const options = await providerOptions({ configuration, directory: '.' }, driver, () => {})
  return { driver, provider: await createProvider({ ...options, runtime: nodeRuntime }) }
}

/** The user manager, for a search. */
function usersIn(entries: EntryStore): UserManager {
  const accept = async (): Promise<void> => {}
  const administration = openAdministration({
    entries,
    check: { client: accept, scope: accept, user: accept },
    hashPassword: async (password) => password,
    revoke: accept,
  })
  return administration.as({ who: 'benchmark' }).users
}

/** The client of all users. */
const clientOfUsers = idOf('c', 0)

export async function openService(server: PostgresqlServer, prefix: string): Promise<Service> {
  const { driver, provider } = await open(server, prefix)
  const entries = openEntries({ issuer, storage: driver })

  async function request(clientId: string, form: Readonly<Record<string, string>>): Promise<void> {
    const response = await provider.fetch(
      new Request(`${issuer}/connect/token`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${btoa(`${clientId}:${secret}`)}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams(form).toString(),
      }),
    )
    const text = await response.text()
    if (response.status !== 200) throw new Error(`The token endpoint returned ${response.status}: ${text}`)
  }

  return {
    table: `${prefix}_items`,
    entries,
    users: usersIn(entries),
    token: (clientId) => request(clientId, { grant_type: 'client_credentials', scope: 'api1' }),
    async code(sub) {
      const scopes = ['openid', 'profile']
      const subject = { sub, amr: ['pwd'] }
      return storeGrant(provider, { kind: 'code', clientId: clientOfUsers, redirectUri, scopes, subject })
    },
    redeem: (code) => request(clientOfUsers, { grant_type: 'authorization_code', code, redirect_uri: redirectUri }),
    close: () => provider.close(),
  }
}
