// Several processes insert at the same moment: one insert per item wins, and its value is stored.
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { RedisDriverOptions } from '@grantry/storage-drivers/redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { startReplica } from '../support/redis-replica.ts'
import { startRedis } from '../support/redis-server.ts'
import { startProgram, startTogether } from './programs/filesystem-process.ts'

const processes = ['one', 'two', 'three', 'four']
const count = 300

describeWithRedis('one of four processes wins each of 300 items', () => {
  let program: string
  beforeAll(async () => {
    program = await bundle(new URL('./programs/redis-insert.ts', import.meta.url))
  })
  afterAll(() => rm(dirname(program), { recursive: true }))
  const driverOf = redisDrivers()

  async function race(options: RedisDriverOptions): Promise<void> {
    const programs = processes.map((name) => startProgram(program, JSON.stringify(options), name, String(count)))
    await startTogether(programs)
    const won = await Promise.all(programs.map((one) => one.rest()))
    const winners = won.flatMap((indexes, process) =>
      indexes.map((index) => [Number(index), processes[process]] as const),
    )
    expect(winners.map(([index]) => index).sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => i))
    const driver = driverOf(options)
    for (const [index, winner] of winners) expect(await driver.getItem(`spent:${index}`)).toBe(winner)
  }

  test('on one server', async () => {
    const server = await startRedis()
    await race({ url: server.url })
    await server.stop()
  }, 60_000)

  test('on one server with waitReplicas', async () => {
    const server = await startRedis()
    const replica = await startReplica(server)
    await race({ url: server.url, waitReplicas: 1 })
    await Promise.all([server.stop(), replica.stop()])
  }, 60_000)

  test('on a cluster', async () => {
    const cluster = await startRedisCluster(3)
    await race({ cluster: cluster.urls })
    await cluster.stop()
  }, 60_000)
})
