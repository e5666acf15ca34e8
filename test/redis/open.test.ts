// open() rejects an unsuitable Redis with a message that an operator can act on and that contains no secret.

import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import type { RedisDriverOptions } from '@grantry/storage-drivers/redis'
import { expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { redisServers } from '../support/redis-servers.ts'
import { reservedPort } from '../support/reserved-port.ts'

const secret = 'the-p@ssword'
const quoted = encodeURIComponent(secret)

describeWithRedis('open() of the Redis driver', () => {
  // Each test has its own server: all of them run concurrently, because they mostly wait.
  const servers = redisServers()
  const driverOf = redisDrivers({ concurrent: true })

  /**
   * Returns the message of the rejection. Nothing in the error may contain a secret or a command argument, since it may
   * be logged.
   */
  async function refusal(options: RedisDriverOptions): Promise<string> {
    const error = await driverOf(options)
      .open()
      .then(
        () => expect.fail('it was taken'),
        (thrown: unknown) => thrown,
      )
    for (const word of [secret, quoted, 'other-password']) {
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(word)
    }
    return (error as Error).message
  }

  test.concurrent('reports host, port and reason when no server listens', async ({ expect }) => {
    const port = await reservedPort()
    expect(await refusal({ url: `redis://someone:${quoted}@127.0.0.1:${port}` })).toBe(
      `storage: Redis at 127.0.0.1:${port} is not available: connect ECONNREFUSED 127.0.0.1:${port}`,
    )
    expect(await refusal({ cluster: [`redis://:${quoted}@127.0.0.1:${port}`] })).toBe(
      `storage: Redis Cluster at 127.0.0.1:${port} is not available: no connection`,
    )
    expect(
      await refusal({ sentinels: [{ host: '127.0.0.1', port }], name: 'tokens', operationTimeout: 0.5 }),
    ).toContain(
      `storage: Redis "tokens" of the Sentinels at 127.0.0.1:${port} is not available: All sentinels are unreachable`,
    )
  })

  test.concurrent('reports a missing or wrong password', async ({ expect }) => {
    const locked = await servers.start({ arguments: ['--requirepass', secret] })
    const where = `storage: Redis at 127.0.0.1:${locked.port} is not available: `
    expect(await refusal({ url: locked.url })).toBe(`${where}NOAUTH Authentication required.`)
    expect(await refusal({ url: `redis://:other-password@127.0.0.1:${locked.port}` })).toMatch(`${where}WRONGPASS`)
    expect(await refusal({ url: locked.url, connection: { password: 'other-password' } })).toMatch(`${where}WRONGPASS`)
  })

  test.concurrent('accepts the password in the URL or in the connection option', async () => {
    const locked = await servers.start({ arguments: ['--requirepass', secret] })
    await driverOf({ url: `redis://:${quoted}@127.0.0.1:${locked.port}` }).open()
    await driverOf({ url: locked.url, connection: { password: secret } }).open()
  })

  test.concurrent('refuses a server that can evict a marker', async ({ expect }) => {
    const server = await servers.start()
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    expect(await refusal({ url: server.url })).toBe(
      `storage: Redis at 127.0.0.1:${server.port} has maxmemory-policy allkeys-lru, which can evict the marker of a redeemed code, so that the code works twice; set maxmemory-policy noeviction`,
    )
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    await driverOf({ url: server.url }).open()
  })

  test.concurrent('refuses a server that does not report its maxmemory-policy', async ({ expect }) => {
    const server = await servers.start()
    await server.command('ACL', 'SETUSER', 'blind', 'on', `>${secret}`, '~*', '+@all', '-info')
    expect(await refusal({ url: `redis://blind:${quoted}@127.0.0.1:${server.port}` })).toMatch(
      /NOPERM .*; the driver needs INFO memory to check that maxmemory-policy is noeviction$/u,
    )
  })

  test.concurrent('refuses a server with too few replicas', async ({ expect }) => {
    const server = await servers.start()
    expect(await refusal({ url: server.url, waitReplicas: 1, operationTimeout: 4 })).toBe(
      `storage: Redis at 127.0.0.1:${server.port} has 0 replicas in sync, but waitReplicas is 1; attach replicas or lower waitReplicas`,
    )
  })

  test.concurrent('refuses a server that is not part of a cluster when cluster is set', async ({ expect }) => {
    const server = await servers.start()
    expect(await refusal({ cluster: [server.url] })).toMatch('ERR This instance has cluster support disabled')
  })

  test.concurrent('does not hang when the server hangs', async ({ expect }) => {
    const server = await servers.start()
    server.pause()
    try {
      expect(await refusal({ url: server.url, operationTimeout: 0.3 })).toMatch('no response within 0.3 s')
    } finally {
      server.resume()
    }
  })

  test.concurrent('needs only the permissions in the guide', async ({ expect }) => {
    const server = await servers.start()
    const guide = readFileSync(new URL('../../docs/guides/redis.md', import.meta.url), 'utf8')
    const [, rights = ''] = /^user grantry on >the-password (~grantry:\* .+)$/mu.exec(guide) ?? []
    await servers.replicaOf(server)
    await server.command('ACL', 'SETUSER', 'grantry', 'reset', 'on', '>the-password', ...rights.split(' '))
    const options = { url: `redis://grantry:the-password@127.0.0.1:${server.port}` }
    for (const waitReplicas of [0, 1]) {
      const driver = driverOf({ ...options, waitReplicas })
      await driver.open()
      expect(await driver.insertItem('key', 'x', { ttl: 60 })).toBe(true)
      expect(await driver.insertItem('key', 'x', { ttl: 60 })).toBe(false)
      await driver.setItem('key', 'y', { ttl: 60 })
      expect([await driver.getItem('key'), await driver.hasItem('key')]).toEqual(['y', true])
      await driver.removeItem('key')
      for (const count of [1, 2]) expect(await driver.incrementItem('counter', { ttl: 60 })).toBe(count)
      await driver.clear()
      expect(await driver.getKeys()).toEqual([])
    }
    await expect(driverOf({ ...options, prefix: 'other' }).getItem('key')).rejects.toThrow('NOPERM')
  })

  // After disconnect(), an ioredis client treats its next connection loss as intended and does not reconnect.
  test.concurrent('works at a second attempt, and the driver then survives an outage', async ({ expect }) => {
    const late = await servers.start()
    await late.kill()
    const driver = driverOf({ url: late.url })
    await expect(driver.open()).rejects.toThrow('ECONNREFUSED')
    await expect(driver.getItem('key')).rejects.toThrow('ECONNREFUSED')
    await late.restart()
    await driver.open()
    await driver.open()
    await late.kill()
    await expect.poll(() => driver.getItem('key').catch(({ message }) => message)).toContain('ECONNREFUSED')
    await late.restart()
    await expect.poll(() => driver.getItem('key').catch(({ message }) => message)).toBeNull()
  })

  test.concurrent('is optional: the first operation opens and rejects like open()', async ({ expect }) => {
    const server = await servers.start()
    expect(await driverOf({ url: server.url }).insertItem('unopened', 'x', { ttl: 60 })).toBe(true)
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-ttl')
    await expect(driverOf({ url: server.url }).getItem('unopened')).rejects.toThrow('set maxmemory-policy noeviction')
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  })

  test.concurrent('rejects after dispose()', async ({ expect }) => {
    const server = await servers.start()
    const driver = driverOf({ url: server.url })
    await driver.open()
    await driver.dispose()
    await expect(driver.open()).rejects.toThrow('was disposed of')
    await expect(driver.getItem('key')).rejects.toThrow('was disposed of')
  })
})
