// Attack: concurrent guesses at all processes of a service, each of which sees only its own. The count must be exact
// across them.
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../../test/support/bundle.ts'
import { describeWithRedis } from '../../test/support/redis-describe.ts'
import { type RedisServer, startRedis } from '../../test/support/redis-server.ts'
import { type GuesserReport, guessTogether } from './guessers.ts'

describeWithRedis('of 4 x 30 concurrent guesses, at four processes on one Redis with a slow network', () => {
  let server: RedisServer
  let reports: readonly GuesserReport[]
  beforeAll(async () => {
    const program = await bundle(new URL('./programs/guesser.ts', import.meta.url))
    server = await startRedis()
    reports = await guessTogether(program, 4, { url: server.url, now: 1_800_000_000, guesses: 30 })
    await rm(dirname(program), { recursive: true })
  })
  afterAll(() => server?.stop())

  const judged = (kind: keyof GuesserReport): number => reports.reduce((sum, report) => sum + report[kind].judged, 0)
  const count = (kind: keyof GuesserReport, status: number): number =>
    reports.flatMap((report) => report[kind].statuses).filter((each) => each === status).length

  test('five passwords of a user from one address are checked', () => {
    expect([judged('oneAddress'), count('oneAddress', 400), count('oneAddress', 429)]).toEqual([5, 5, 115])
  })

  test('twenty passwords of a user from 120 addresses are checked', () => {
    expect([judged('manyAddresses'), count('manyAddresses', 400), count('manyAddresses', 429)]).toEqual([20, 20, 100])
  })

  test('twenty passwords of 120 users from one address are reported as wrong', () => {
    expect([count('manyUsers', 400), count('manyUsers', 429)]).toEqual([20, 100])
  })

  test('a hundred passwords of 120 users from 120 addresses are reported as wrong', () => {
    expect([count('manyUsersAndAddresses', 400), count('manyUsersAndAddresses', 429)]).toEqual([100, 20])
  })

  test('ten secrets of a client from one address are reported as wrong', () => {
    expect([count('secret', 401), count('secret', 429)]).toEqual([10, 110])
  })

  test('every record in Redis has an expiry', async () => {
    const keys = (await server.command('KEYS', '*')) as string[]
    expect(keys.length).toBeGreaterThan(20)
    const ends = await Promise.all(keys.map((key) => server.command('PTTL', key)))
    expect(ends.filter((end) => Number(end) <= 0)).toEqual([])
  })
})
