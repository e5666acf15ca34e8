// What `grantry check` reads from the server: its clock, and whether a failover can lose confirmed writes.
import { postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { inspectStore } from '../../packages/server/src/doctor/inspect-store.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

/** Receives the log of the server, as a replica does. */
async function follow({ url }: PostgresqlServer): Promise<void> {
  const replica = new pg.Client({ connectionString: url, replication: 'true', application_name: 'replica' } as object)
  replica.on('error', () => {})
  onTestFinished(() => replica.end())
  await replica.connect()
  const { rows } = await replica.query('IDENTIFY_SYSTEM')
  // The server sends its log until the connection ends.
  replica.query(`START_REPLICATION PHYSICAL ${rows[0].xlogpos}`, () => {})
}

describeWithPostgresql('the state of the server', () => {
  const start = postgresqlServers()

  test('has its clock, and shows replicas that it does not wait for', async () => {
    const server = await start()
    const driver = postgresqlDriver({ url: server.url, operationTimeout: 30 })
    onTestFinished(() => driver.dispose())
    const replicasOf = async () => (await driver.serverState()).hasAsynchronousReplicas
    expect(await inspectStore(driver)).toMatchObject({ hasAsynchronousReplicas: false, clockAhead: expect.any(Number) })

    await follow(server)
    await eventually(async () => expect(await replicasOf()).toBe(true))
    expect(await inspectStore(driver)).toMatchObject({ hasAsynchronousReplicas: true })

    await server.query("ALTER SYSTEM SET synchronous_standby_names = 'replica'")
    await server.query('SELECT pg_reload_conf()')
    await eventually(async () => expect(await replicasOf()).toBe(false))
  })
})
