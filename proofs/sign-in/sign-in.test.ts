// Four processes on one Redis behind a proxy without sticky sessions, one of which is killed in the middle. `npm run
// prove:sign-in` does the same for 1,000 sign-ins.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithRedis } from '../../test/support/redis-describe.ts'
import { type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { startDoubleServer } from '../../test/upstream/double-server.ts'
import { runSignIns } from './sign-in-run.ts'

/** Sign-ins. */
const count = 60

describeWithRedis('sign-ins at four processes on one Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.stop())

  test('succeed while a process is killed, unless it had one of their requests; no code is redeemed twice', async () => {
    const report = await runSignIns({ driver: 'redis', url: redis.url }, count, 4)
    expect(report).toMatchObject({ signedIn: count, redeemedTwice: 0, problems: [] })
  })

  test('succeed in the same way at another provider', async () => {
    const upstream = await startDoubleServer()
    try {
      const report = await runSignIns({ driver: 'redis', url: redis.url }, count, 4, upstream.issuer)
      expect(report).toMatchObject({ signedIn: count, redeemedTwice: 0, problems: [] })
    } finally {
      await upstream.close()
    }
  })
})
