// What `grantry check` reads from the server: its clock, and whether a failover can lose confirmed writes.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { expect, onTestFinished, test } from 'vitest'
import { inspectStore } from '../../packages/server/src/doctor/inspect-store.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { programOf, superuser } from '../support/postgresql-process.ts'
import type { PostgresqlServer } from '../support/postgresql-server.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'

/** Receives the log of the server, as a replica does. */
async function follow({ port }: PostgresqlServer): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'grantry-replica-'))
  const receiver = spawn(
    programOf('pg_receivewal'),
    ['-h', '127.0.0.1', '-p', String(port), '-U', superuser.user, '-D', directory, '--synchronous', '--no-password'],
    { env: { PGPASSWORD: superuser.password }, stdio: 'ignore' },
  )
  const ended = new Promise((resolve) => receiver.once('exit', resolve))
  onTestFinished(async () => {
    receiver.kill('SIGKILL')
    await ended
    await rm(directory, { recursive: true, force: true })
  })
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

    await server.query("ALTER SYSTEM SET synchronous_standby_names = 'pg_receivewal'")
    await server.query('SELECT pg_reload_conf()')
    await eventually(async () => expect(await replicasOf()).toBe(false))
  })
})
