import { expect, onTestFinished, test } from 'vitest'
import { describeWithPostgresql } from '../../test/support/postgresql-describe.ts'
import { startPostgresql } from '../../test/support/postgresql-server.ts'
import { killServers } from './chaos.ts'
import { postgresqlStore } from './postgresql-store.ts'
import { torture } from './torture.ts'
import { clientsWorked, expectUnharmed } from './verdict.ts'

describeWithPostgresql('one PostgreSQL', () => {
  test('servers that share it keep every guarantee while they are killed', async () => {
    const server = await startPostgresql()
    onTestFinished(() => server.stop())
    const until = { ...clientsWorked, kills: 3 }
    const store = postgresqlStore(server)
    const report = await torture({ store: () => store, chaos: killServers, servers: 3, clients: 12, seconds: 4, until })
    expectUnharmed(report, until)
    expect(report.records).toBeGreaterThan(0)
  })
})
