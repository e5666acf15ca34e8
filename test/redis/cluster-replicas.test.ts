// waitReplicas on a cluster: each slot has its own primary, and WAIT must go to the one that received the write.
import type { RedisDriver } from '@grantry/storage-drivers/redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { pause } from '../support/pause.ts'
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import type { RedisServer } from '../support/redis-server.ts'

const ttl = 600

describeWithRedis('the Redis driver with waitReplicas on a cluster', () => {
  let cluster: RedisCluster
  let primaries: RedisServer[]
  let replicas: RedisServer[]
  beforeAll(async () => {
    cluster = await startRedisCluster(3, 3)
    primaries = cluster.nodes.slice(0, 3)
    replicas = cluster.nodes.slice(3)
  })
  afterAll(() => cluster.stop())
  const driverOf = redisDrivers()
  async function open(more: { operationTimeout?: number } = {}): Promise<RedisDriver> {
    const driver = driverOf({ cluster: cluster.urls, waitReplicas: 1, ...more })
    await eventually(() => driver.open())
    return driver
  }
  const first = <T>(list: readonly T[]): T => list[0] as T
  /** Returns the index of the primary of a key. */
  async function ownerOf(key: string): Promise<number> {
    const slot = Number(await first(primaries).command('CLUSTER', 'KEYSLOT', `grantry:${key}`))
    return primaries.findIndex((_, index) => slot < Math.floor(((index + 1) * 16_384) / 3))
  }

  test('confirms on every primary', async () => {
    const driver = await open()
    const keys = Array.from({ length: 200 }, (_, index) => `key:${index}`)
    expect(await Promise.all(keys.map((key) => driver.insertItem(key, 'x', { ttl })))).not.toContain(false)
    expect(await Promise.all(keys.map((key) => driver.insertItem(key, 'y', { ttl })))).not.toContain(true)
    const copies = await Promise.all(replicas.map((replica) => replica.command('DBSIZE')))
    // The writes include the fences.
    expect(copies.reduce((sum: number, copy) => sum + Number(copy), 0)).toBeGreaterThanOrEqual(keys.length)
    await driver.clear()
    expect(await driver.getKeys()).toEqual([])
  })

  test('rejects only writes that the replica of their primary has not received', async () => {
    const driver = await open({ operationTimeout: 8 })
    const keys = Array.from({ length: 60 }, (_, index) => `paused:${index}`)
    const owners = await Promise.all(keys.map(ownerOf))
    first(replicas).pause()
    let outcomes: readonly PromiseSettledResult<boolean>[]
    try {
      // One at a time for the paused primary: each write blocks the connection to it.
      const paused = keys[owners.indexOf(0)] ?? ''
      const others = keys.filter((_, index) => owners[index] !== 0)
      outcomes = await Promise.allSettled([paused, ...others].map((key) => driver.insertItem(key, 'x', { ttl })))
    } finally {
      first(replicas).resume()
    }
    const [refused, ...answered] = outcomes
    expect(refused?.status === 'rejected' && refused.reason.message).toMatch(
      /confirmed a write on only 0 of 1 replicas/u,
    )
    expect(answered.every((outcome) => outcome.status === 'fulfilled' && outcome.value)).toBe(true)
  })

  test('follows a moved slot, and rejects during the move', async () => {
    const driver = await open()
    const key = 'moved'
    const owner = await ownerOf(key)
    const [from, to] = [primaries[owner] as RedisServer, primaries[(owner + 1) % 3] as RedisServer]
    const slot = String(await from.command('CLUSTER', 'KEYSLOT', `grantry:${key}`))
    const [fromId, toId] = [String(await from.command('CLUSTER', 'MYID')), String(await to.command('CLUSTER', 'MYID'))]
    await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId)
    await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId)
    await expect(driver.insertItem(key, 'x', { ttl })).rejects.toThrow('returned an error: ASK')
    for (const node of [to, from]) await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', toId)
    expect(await driver.insertItem(key, 'x', { ttl })).toBe(true)
    expect(await driver.insertItem(key, 'y', { ttl })).toBe(false)
    expect(await to.command('EXISTS', `grantry:${key}`)).toBe(1)
  })

  // Last, because it leaves the cluster with one primary less.
  test('keeps every resolved insert through the loss of a primary under load', async () => {
    const driver = await open({ operationTimeout: 1 })
    const created: string[] = []
    let refused = 0
    let isOver = false
    let last = 0
    const writing = Array.from({ length: 32 }, async () => {
      while (!isOver) {
        last += 1
        const key = `spent:${last}`
        try {
          if (await driver.insertItem(key, 'x', { ttl })) created.push(key)
        } catch {
          refused += 1
          await pause(20)
        }
      }
    })
    await expect.poll(() => created.length).toBeGreaterThan(300)
    await first(primaries).kill()
    await expect.poll(() => refused).toBeGreaterThan(0)
    const successor = async () => String(await first(replicas).command('ROLE'))
    await expect.poll(successor).toMatch(/^master/u)
    isOver = true
    await Promise.all(writing)
    // The successor has no replica, so it confirms no write, but it has every resolved insert.
    const keysOfSuccessor = async () => new Set(await driver.getKeys('spent:').catch(() => []))
    await expect.poll(async () => (await keysOfSuccessor()).size).toBeGreaterThan(0)
    const present = await keysOfSuccessor()
    expect(created.filter((key) => !present.has(key))).toEqual([])
  })
})
