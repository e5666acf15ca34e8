import { expect, test } from 'vitest'
import { describeWithRedis } from '../../test/support/redis-describe.ts'
import { startRedis } from '../../test/support/redis-server.ts'
import { killServers } from './chaos.ts'
import { redisStore } from './redis-store.ts'
import { torture } from './torture.ts'
import { clientsWorked, expectUnharmed } from './verdict.ts'

describeWithRedis('one Redis', () => {
  test('servers that share it keep every guarantee while they are killed', async () => {
    const redis = await startRedis()
    try {
      const until = { ...clientsWorked, kills: 3 }
      const store = redisStore({ url: redis.url }, async () => redis.port)
      const report = await torture({
        store: () => store,
        chaos: killServers,
        servers: 3,
        clients: 12,
        seconds: 4,
        until,
      })
      expectUnharmed(report, until)
      expect(report.records).toBeGreaterThan(0)
    } finally {
      await redis.stop()
    }
  })
})
