// The attacks of test/attacks/tenant-credentials.test.ts, with all tenants in one server.

import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { redisServers } from '../support/redis-servers.ts'
import { credentialAttacks } from '../tenants/credential-attacks.ts'

describeWithRedis('tenants', () => {
  const { start } = redisServers()
  const driverOf = redisDrivers({ concurrent: true })
  let server: Promise<{ readonly url: string }> | undefined

  credentialAttacks('what a tenant has issued', async () => {
    server ??= start()
    return driverOf({ url: (await server).url })
  })
})
