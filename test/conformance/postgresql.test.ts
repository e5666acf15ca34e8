// The PostgreSQL driver passes the conformance kit, with processes and an outage.
import { type PostgresqlDriver, postgresqlDriver } from '@grantry/storage-drivers/postgresql'
import { test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { assertPassesEveryProof, named, type Row, temporaryFiles } from './programs/table.ts'

describeWithPostgresql('passes the conformance kit:', () => {
  const { moduleOf } = temporaryFiles()
  const start = postgresqlServers()

  /** Opens again, because a server of a busy machine can take seconds to respond. */
  const patient = (driver: PostgresqlDriver): PostgresqlDriver => ({
    ...driver,
    open: () => eventually(() => driver.open()),
  })

  const rows: readonly Row[] = [
    {
      name: 'postgresql, with 2 processes',
      skipReasons: [],
      async subject() {
        const server = await start()
        const options = { url: server.url, operationTimeout: 30, maxConnections: 5 }
        return {
          open: () => patient(postgresqlDriver(options)),
          module: await moduleOf('postgresql', { options: JSON.stringify(options) }),
          processes: 2,
          outage: { begin: () => server.pause(), end: () => server.resume() },
        }
      },
    },
  ]

  test.concurrent.each(named(rows))('%s', async (_, row) => assertPassesEveryProof(row))
})
