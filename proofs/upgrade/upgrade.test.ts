// The checks of a rolling upgrade hold for two services of one version, and each of them finds servers that do not share what
// they store. `npm run prove:upgrade` takes another version.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithRedis } from '../../test/support/redis-describe.ts'
import { type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { realServerProgram } from '../../test/support/server-program.ts'
import { checks } from './checks.ts'
import { runUpgrade } from './upgrade-run.ts'

describeWithRedis('servers that take turns at one Redis', () => {
  let redis: RedisServer
  let program: string
  beforeAll(async () => {
    redis = await startRedis()
    program = await realServerProgram()
  })
  afterAll(() => redis?.stop())
  const storage = (prefix: string) => ({ driver: 'redis', url: redis.url, prefix })

  test('keep what must hold', async () => {
    const version = { program, storage: storage('same') }
    const report = await runUpgrade([version, version], 2)
    expect(report).toEqual(Object.fromEntries(Object.keys(checks).map((name) => [name, []])))
  })

  test('break every check if each half has its own records', async () => {
    const report = await runUpgrade(
      [
        { program, storage: storage('older') },
        { program, storage: storage('newer') },
      ],
      1,
    )
    expect(Object.entries(report).filter(([, faults]) => faults.length === 0)).toEqual([])
    expect(Object.keys(report)).toEqual(Object.keys(checks))
  })
})
