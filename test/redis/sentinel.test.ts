// The primary dies under load and a Sentinel promotes its replica. With waitReplicas, no resolved insert or
// commit may be lost: it prevents a second redemption of a code.

import type { RedisDriver } from '@grantry/storage-drivers/redis'
import { Redis } from 'ioredis'
import { test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { pause } from '../support/pause.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { redisServers } from '../support/redis-servers.ts'

const ttl = 600
const writers = 32
/** Large enough that the writes do not fit into system buffers, so that a paused replica falls behind. */
const large = 'x'.repeat(300_000)

describeWithRedis('the Redis driver with Sentinels', () => {
  const servers = redisServers()
  const driverOf = redisDrivers({ concurrent: true })

  async function start() {
    const primary = await servers.start()
    const replica = await servers.replicaOf(primary)
    return { primary, replica, sentinel: await servers.sentinelOf(primary) }
  }

  /**
   * Inserts and commits items until `stop()`, and records which of them returned true and which rejected. Every other
   * key is committed together with an item.
   */
  function inserting(driver: RedisDriver): {
    readonly created: string[]
    readonly refused: string[]
    readonly committed: string[]
    grow(): void
    stop(): Promise<void>
  } {
    const created: string[] = []
    const refused: string[] = []
    const committed: string[] = []
    let value = 'x'
    let isOver = false
    let last = 0
    const writing = Array.from({ length: writers }, async () => {
      while (!isOver) {
        last += 1
        const key = `spent:${last}`
        try {
          const isCommit = last % 2 === 0
          const put = [{ key: `access:${key}`, value, ttl }]
          const outcome = await (isCommit
            ? driver.commit?.({ create: [{ key, value: 'x', ttl }], put, remove: [] })
            : driver.insertItem(key, value, { ttl }))
          if (outcome !== true) continue
          created.push(key)
          if (isCommit) committed.push(key)
        } catch {
          refused.push(key)
          await pause(20)
        }
      }
    })
    return {
      created,
      refused,
      committed,
      grow() {
        value = large
      },
      async stop() {
        isOver = true
        await Promise.all(writing)
      },
    }
  }

  test.concurrent('finds the primary and its successor without a restart', async ({ expect }) => {
    const { primary, replica, sentinel } = await start()
    const driver = driverOf({ sentinels: [{ host: '127.0.0.1', port: sentinel.port }], name: sentinel.name })
    await driver.open()
    await driver.setItem('key', 'before', { ttl })
    expect(await primary.command('GET', 'grantry:key')).toBe('before')
    await primary.kill()
    await expect.poll(() => driver.setItem('key', 'after', { ttl }).catch(({ message }) => message)).toBeUndefined()
    expect(await replica.command('GET', 'grantry:key')).toBe('after')
  })

  test.concurrent('keeps every resolved insert and commit through the loss of the primary under load', async ({
    expect,
  }) => {
    const { primary, replica, sentinel } = await start()
    const driver = driverOf({
      sentinels: [{ host: '127.0.0.1', port: sentinel.port }],
      name: sentinel.name,
      waitReplicas: 1,
      operationTimeout: 1,
    })
    await eventually(() => driver.open())
    const inserts = inserting(driver)
    await expect.poll(() => inserts.created.length).toBeGreaterThan(300)
    // The replica falls behind: from now on, only the primary has new writes.
    replica.pause()
    inserts.grow()
    const responses = (): number => inserts.created.length + inserts.refused.length
    const before = responses()
    await expect.poll(responses).toBeGreaterThan(before + 3 * writers)
    await primary.kill()
    replica.resume()
    await expect.poll(async () => String(await replica.command('ROLE'))).toMatch(/^master/u)
    await inserts.stop()
    const client = new Redis(replica.url)
    async function present(keys: readonly string[]): Promise<readonly string[]> {
      const replies = await client.pipeline(keys.map((key) => ['exists', `grantry:${key}`])).exec()
      return keys.filter((_, index) => replies?.[index]?.[1] === 1)
    }
    expect(await present(inserts.created)).toEqual(inserts.created)
    // A commit that rejected was performed completely or not at all.
    const commits = [...inserts.committed, ...inserts.refused.filter((key) => Number(key.slice(6)) % 2 === 0)]
    expect(inserts.committed.length).toBeGreaterThan(50)
    expect(await present(commits.map((key) => `access:${key}`))).toEqual(
      (await present(commits)).map((key) => `access:${key}`),
    )
    client.disconnect()
  })
})
