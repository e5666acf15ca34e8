// Four processes on one Redis rotate their keys under load: no token fails to validate anywhere, and each trigger
// causes one rotation. `npm run prove:rotation` does the same for longer.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithRedis } from '../../test/support/redis-describe.ts'
import { type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { faultsOfChain, runRotations } from './rotation-run.ts'
import { type Server, startService } from './service.ts'

/** Seconds of every clock per real second: hours of rotations in a few seconds. */
const speed = 300

describeWithRedis('four processes on one redis', () => {
  const base = Date.now()
  let redis: RedisServer
  let servers: readonly Server[] = []
  beforeAll(async () => {
    redis = await startRedis()
    servers = await startService({ store: { driver: 'redis', url: redis.url }, base, speed }, 4)
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()))
    await redis?.stop()
  })

  test('rotate under load on command and by schedule, and every token validates everywhere', async () => {
    const secondsNow = () => (base + (Date.now() - base) * speed) / 1000
    const run = await runRotations(servers, { rotations: 2, perBatch: 5, secondsNow })
    expect(run.faults).toEqual([])
    expect(run.commanded).toBeGreaterThan(0)
    expect(run.scheduled).toBeGreaterThan(0)
    expect(run.issued).toBeGreaterThanOrEqual(100)
    expect(run.again).toBeGreaterThanOrEqual(100)
    const stored = await redis.command('keys', 'grantry:*')
    expect((stored as string[]).filter((key) => key.includes('keys:'))).toHaveLength(run.commanded + run.scheduled + 2)
  })
})

test.each([
  [
    'two that retire one key',
    [
      { kid: 'b', nextKid: 'c', retiredKid: 'a' },
      { kid: 'd', nextKid: 'e', retiredKid: 'a' },
    ],
    'b',
  ],
  [
    'a key that was not the next',
    [
      { kid: 'b', nextKid: 'c', retiredKid: 'a' },
      { kid: 'x', nextKid: 'd', retiredKid: 'b' },
    ],
    'x',
  ],
  [
    'two rings',
    [
      { kid: 'b', nextKid: 'c', retiredKid: 'a' },
      { kid: 'y', nextKid: 'z', retiredKid: 'x' },
    ],
    'b',
  ],
  ['one that is not in use', [{ kid: 'b', nextKid: 'c', retiredKid: 'a' }], 'c'],
])('the checker finds %s', (_what, events, last) => {
  expect(faultsOfChain(events, last)).toHaveLength(1)
})

test('the checker accepts consecutive rotations, in whatever order they were reported', () => {
  const events = [
    { kid: 'c', nextKid: 'd', retiredKid: 'b' },
    { kid: 'b', nextKid: 'c', retiredKid: 'a' },
  ]
  expect(faultsOfChain(events, 'c')).toEqual([])
})
