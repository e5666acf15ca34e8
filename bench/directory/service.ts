import { nodeRuntime } from '@grantry/adapters/node'
import { createProvider, type EntryStore, hashSecret, openEntries, parseConfiguration } from '@grantry/core'
import { postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { providerOptions } from '../../packages/server/src/configuration/provider-options.ts'
import { configurationSchema } from '../../packages/server/src/configuration/schema.ts'
import type { PostgresqlServer } from '../../test/support/postgresql-server.ts'

const issuer = 'https://id.example.com'
const secret = 'the-secret-of-each-client-of-the-benchmark'

/** A client as `grantry clients add` stores it. */
export const clientValue = (clientId: string) => ({
  client: {
    clientId,
    secrets: [hashSecret(secret)],
    grantTypes: ['client_credentials'],
    scopes: ['api1'],
  },
  tags: ['benchmark'],
  createdAt: '2026-01-01T00:00:00.000Z',
  changedAt: '2026-01-01T00:00:00.000Z',
})

/** The provider of the ready server, on a table of its own. */
export interface Service {
  readonly table: string
  readonly entries: EntryStore
  token(clientId: string): Promise<void>
  close(): Promise<void>
}

export async function openService(server: PostgresqlServer, prefix: string): Promise<Service> {
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
  const provider = await createProvider({ ...options, runtime: nodeRuntime })
  return {
    table: `${prefix}_items`,
    entries: openEntries({ issuer, storage: driver }),
    async token(clientId) {
      const response = await provider.fetch(
        new Request(`${issuer}/connect/token`, {
          method: 'POST',
          headers: {
            authorization: `Basic ${btoa(`${clientId}:${secret}`)}`,
            'content-type': 'application/x-www-form-urlencoded',
          },
          body: 'grant_type=client_credentials&scope=api1',
        }),
      )
      const text = await response.text()
      if (response.status !== 200) throw new Error(`The token endpoint returned ${response.status}: ${text}`)
    },
    close: () => provider.close(),
  }
}
