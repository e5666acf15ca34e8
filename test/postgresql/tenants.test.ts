// The attacks of test/attacks/tenant-credentials.test.ts, with all tenants in one table.

import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { postgresqlDrivers } from '../support/postgresql-drivers.ts'
import { postgresqlServers } from '../support/postgresql-servers.ts'
import { credentialAttacks } from '../tenants/credential-attacks.ts'

describeWithPostgresql('tenants', () => {
  const start = postgresqlServers()
  const driverOf = postgresqlDrivers({ concurrent: true })
  let server: Promise<{ readonly url: string }> | undefined

  credentialAttacks('what a tenant has issued', async () => {
    server ??= start()
    return driverOf({ url: (await server).url })
  })
})
