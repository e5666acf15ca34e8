import { expect, test } from 'vitest'
import { killServers } from './chaos.ts'
import { sqliteStore } from './stores.ts'
import { torture } from './torture.ts'
import { clientsWorked, expectUnharmed } from './verdict.ts'

test('servers that share a SQLite file keep every guarantee while they are killed', async () => {
  const until = { ...clientsWorked, kills: 3 }
  const report = await torture({
    store: sqliteStore,
    chaos: killServers,
    servers: 3,
    clients: 12,
    seconds: 4,
    until,
  })
  expectUnharmed(report, until)
  expect(report.records).toBeGreaterThan(0)
})
