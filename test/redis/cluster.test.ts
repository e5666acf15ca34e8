// Redis Cluster: keys are spread over several primaries, and slots move between them at run time.
import { readFileSync } from 'node:fs'
import type { RedisDriver } from '@grantry/storage-drivers/redis'
import { Cluster } from 'ioredis'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { itemKeys } from '../../packages/storage-drivers/src/redis/item-key.ts'
import { eventually } from '../support/eventually.ts'
import { type RedisCluster, startRedisCluster } from '../support/redis-cluster.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { type RedisProxy, startProxy } from '../support/redis-proxy.ts'
import type { RedisServer } from '../support/redis-server.ts'

const ttl = 60
const keys = Array.from({ length: 300 }, (_, index) => `key:${index}`)

describeWithRedis('the Redis driver on a cluster', () => {
  let cluster: RedisCluster
  beforeAll(async () => {
    cluster = await startRedisCluster(3)
  })
  afterEach(() => Promise.all(cluster.nodes.map((node) => node.command('FLUSHALL'))))
  afterAll(() => cluster.stop())
  const driverOf = redisDrivers()
  const open = (): RedisDriver => driverOf({ cluster: cluster.urls })
  const sizes = (): Promise<unknown[]> => Promise.all(cluster.nodes.map((node) => node.command('DBSIZE')))

  const slotOf = async (itemKey: string): Promise<number> =>
    Number(await (cluster.nodes[0] as RedisServer).command('CLUSTER', 'KEYSLOT', itemKey))

  test('performs every operation on every primary', async () => {
    const driver = open()
    const inserted = await Promise.all(keys.map((key) => driver.insertItem(key, `inserted ${key}`, { ttl })))
    expect(inserted).not.toContain(false)
    const again = await Promise.all(keys.map((key) => driver.insertItem(key, 'again', { ttl })))
    expect(again).not.toContain(true)
    for (const size of await sizes()) expect(size).toBeGreaterThan(50)
    expect(await Promise.all(keys.map((key) => driver.getItem(key)))).toEqual(keys.map((key) => `inserted ${key}`))
    await Promise.all(keys.map((key) => driver.setItem(key, `set ${key}`, { ttl })))
    expect(await Promise.all(keys.map((key) => driver.getItem(key)))).toEqual(keys.map((key) => `set ${key}`))
    expect(await driver.getItems(keys.map((key) => ({ key })))).toEqual(
      keys.map((key) => ({ key, value: `set ${key}` })),
    )
    expect((await driver.getKeys()).sort()).toEqual([...keys].sort())
    expect((await driver.getKeys('key:1')).length).toBe(111)
    await Promise.all(keys.slice(0, 100).map((key) => driver.removeItem(key)))
    expect((await driver.getKeys()).length).toBe(200)
    expect([await driver.hasItem('key:0'), await driver.hasItem('key:299')]).toEqual([false, true])
    await driver.clear()
    expect(await sizes()).toEqual([0, 0, 0])
  })

  test("works with the caller's cluster client and leaves it open", async () => {
    const nodes = cluster.nodes.map(({ port }) => ({ port, host: '127.0.0.1' }))
    const client = new Cluster(nodes, {
      enableAutoPipelining: true,
      retryDelayOnFailover: 0,
      redisOptions: { autoResendUnfulfilledCommands: false },
    })
    const driver = driverOf({ client })
    await Promise.all(keys.map((key) => driver.setItem(key, 'x', { ttl })))
    expect((await driver.getKeys()).length).toBe(keys.length)
    await driver.clear()
    await driver.dispose()
    expect(await client.set('still', 'open')).toBe('OK')
    client.disconnect()
  })

  test('needs only the permissions in the guide', async () => {
    const guide = readFileSync(new URL('../../docs/guides/redis.md', import.meta.url), 'utf8')
    const [, rights = ''] = /^user grantry on >the-password (~grantry:\* .+)$/mu.exec(guide) ?? []
    const [, more = ''] = /A cluster also needs `([^`]+)`/u.exec(guide) ?? []
    for (const node of cluster.nodes) {
      const all = `${rights} ${more}`.split(' ')
      await node.command('ACL', 'SETUSER', 'grantry', 'reset', 'on', '>the-password', ...all)
    }
    const driver = driverOf({
      cluster: cluster.nodes.map(({ port }) => `redis://grantry:the-password@127.0.0.1:${port}`),
    })
    expect(await Promise.all(keys.map((key) => driver.insertItem(key, 'x', { ttl })))).not.toContain(false)
    expect((await driver.getKeys()).length).toBe(keys.length)
    expect(await Promise.all([1, 2, 3].map((n) => driver.incrementItem(`counter ${n}`, { ttl })))).toEqual([1, 1, 1])
    await driver.clear()
    expect(await sizes()).toEqual([0, 0, 0])
  })

  test('refuses a cluster with a primary that can evict a marker', async () => {
    const [, , last] = cluster.nodes as [RedisServer, RedisServer, RedisServer]
    await last.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru')
    await expect(open().open()).rejects.toThrow(
      `(127.0.0.1:${last.port}) has maxmemory-policy volatile-lru, which can evict the marker`,
    )
    await last.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  })

  // A pipeline goes to the server of its first key: a fence in another slot would be rejected, or WAIT would ask the
  // wrong server.
  test('puts the fence of an item into the slot of the item, for any key', async () => {
    const hostile = ['spent:1', 'a{b}', '{a}b', 'a}{b', '{}', '}', '{', 'a b', 'é🔑', '%', '%007b', '\ud800', '', ':']
    for (const prefix of ['grantry', 'a{b}c', '{', '}', '{}']) {
      const names = itemKeys(prefix)
      for (const key of hostile) {
        const itemKey = names.of(key)
        expect(await slotOf(names.fenceOf(itemKey)), `${prefix} ${key}`).toBe(await slotOf(itemKey))
      }
    }
  })

  test('follows a moving slot during and after the move', async () => {
    const driver = open()
    await driver.setItem('moved', 'x', { ttl })
    const names = itemKeys('grantry')
    const slot = await slotOf(names.of('moved'))
    const owner = cluster.nodes.findIndex((_, index) => slot < Math.floor(((index + 1) * 16_384) / 3))
    const from = cluster.nodes[owner] as RedisServer
    const to = cluster.nodes[(owner + 1) % 3] as RedisServer
    const [fromId, toId] = [String(await from.command('CLUSTER', 'MYID')), String(await to.command('CLUSTER', 'MYID'))]
    const move = async (source: RedisServer, target: RedisServer, sourceId: string, targetId: string) => {
      await target.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId)
      await source.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId)
      return async () => {
        await source.command('MIGRATE', '127.0.0.1', target.port, names.of('moved'), 0, 5000)
        for (const node of [target, source]) await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', targetId)
      }
    }
    const finish = await move(from, to, fromId, toId)
    expect(await driver.getItem('moved')).toBe('x')
    // Missing keys are requested from the target node.
    await driver.removeItem('moved')
    expect(await driver.insertItem('moved', 'y', { ttl })).toBe(true)
    expect(await driver.insertItem('moved', 'z', { ttl })).toBe(false)
    expect(await driver.getItem('moved')).toBe('y')
    await finish()
    // In a batch before the slot table is refreshed, and alone.
    const crowd = await Promise.all([...keys, 'moved'].map((key) => driver.insertItem(key, 'y', { ttl })))
    expect(crowd.indexOf(false)).toBe(keys.length)
    expect(await driver.getItem('moved')).toBe('y')
    const back = await move(to, from, toId, fromId)
    await back()
    expect(await driver.getItem('moved')).toBe('y')
    expect((await driver.getKeys()).length).toBe(keys.length + 1)
  })

  /** Opens a driver whose connections all go through proxies. */
  async function throughProxies(operationTimeout: number): Promise<{ driver: RedisDriver; proxies: RedisProxy[] }> {
    const proxies = await Promise.all(cluster.nodes.map(startProxy))
    const natMap = Object.fromEntries(
      cluster.nodes.map(({ port }, index) => [
        `127.0.0.1:${port}`,
        { host: '127.0.0.1', port: proxies[index]?.port ?? 0 },
      ]),
    )
    const driver = driverOf({ cluster: proxies.map(({ url }) => url), connection: { natMap }, operationTimeout })
    await eventually(() => driver.open())
    return { driver, proxies }
  }
  const writeAll = (driver: RedisDriver) =>
    Promise.all(keys.map((key) => driver.setItem(key, 'x', { ttl }))).catch(({ message }) => message)

  test('drops a dead connection to a node and uses a new one', async () => {
    const { driver, proxies } = await throughProxies(0.5)
    for (const proxy of proxies) proxy.darken()
    const dark = await Promise.allSettled(keys.map((key) => driver.setItem(key, 'x', { ttl })))
    expect(dark.map(({ status }) => status)).not.toContain('fulfilled')
    await expect.poll(() => writeAll(driver)).toHaveLength(keys.length)
    await driver.dispose()
    await Promise.all(proxies.map((proxy) => proxy.stop()))
  })

  // A request must not wait for an unreachable cluster, and a rejected operation must not be performed later.
  test('rejects immediately without a connection', async () => {
    const { driver, proxies } = await throughProxies(60)
    for (const node of cluster.nodes) node.pause()
    try {
      for (const proxy of proxies) proxy.cut()
      for (let round = 0; round < 3; round += 1) {
        await expect(driver.getItem('key')).rejects.toThrow('is not available: no connection')
      }
    } finally {
      for (const node of cluster.nodes) node.resume()
    }
    await driver.dispose()
    await Promise.all(proxies.map((proxy) => proxy.stop()))
  })

  // By default ioredis resends the command, and the insert would return false.
  test('does not resend a command that a node may have performed before the connection broke', async () => {
    const { driver, proxies } = await throughProxies(60)
    for (const proxy of proxies) proxy.loseResponses()
    const inserting = driver.insertItem('once', 'x', { ttl })
    await expect.poll(async () => (await sizes()).includes(1)).toBe(true)
    for (const proxy of proxies) proxy.cut()
    await expect(inserting).rejects.toThrow('is not available: no connection')
    await expect.poll(() => writeAll(driver)).toHaveLength(keys.length)
    await driver.dispose()
    await Promise.all(proxies.map((proxy) => proxy.stop()))
  })

  test('rejects for a lost primary, returns no partial key list, and works again when the primary is back', async () => {
    const driver = driverOf({ cluster: cluster.urls, operationTimeout: 1 })
    await eventually(() => Promise.all(keys.map((key) => driver.setItem(key, 'x', { ttl }))))
    const lost = cluster.nodes[1] as RedisServer
    await lost.kill()
    const outcomes = await Promise.allSettled(keys.map((key) => driver.getItem(key)))
    expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(50)
    for (let round = 0; round < 3; round += 1) await expect(driver.getKeys()).rejects.toThrow(/^Redis Cluster at /u)
    await lost.restart()
    await expect.poll(() => writeAll(driver)).toHaveLength(keys.length)
    expect((await eventually(() => driver.getKeys())).length).toBe(keys.length)
  })
})
