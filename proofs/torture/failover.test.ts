import { test } from 'vitest'
import { describeWithRedis } from '../../test/support/redis-describe.ts'
import { failOver } from './chaos.ts'
import { redisStore } from './redis-store.ts'
import { startSentinelGroup } from './sentinel-group.ts'
import { torture } from './torture.ts'
import { expectUnharmed } from './verdict.ts'

describeWithRedis('a primary and a replica under a Sentinel', () => {
  test('with every write on the replica, a failover only takes time', async () => {
    const group = await startSentinelGroup()
    try {
      const until = { failovers: 1, refreshes: 60, unavailable: 1, revocations: 1, inspections: 20 }
      const store = redisStore({ ...group.found, waitReplicas: 1 }, async () => (await group.primary()).port)
      const report = await torture({
        store: () => store,
        chaos: failOver(group),
        servers: 2,
        clients: 12,
        seconds: 4,
        until,
      })
      expectUnharmed(report, until)
    } finally {
      await group.stop()
    }
  })
})
