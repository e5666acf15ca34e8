// open() refuses a Redis that is unfit, in one sentence that an operator can act on and that holds no secret.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { inspect } from 'node:util'
import type { RedisDriverOptions } from '@grantry/storage-drivers/redis'
import { Cluster, Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { freePort, type RedisServer, startRedis, startSentinel } from '../support/redis-server.ts'

const secret = 'the-p@ssword'
const quoted = encodeURIComponent(secret)

describe('redisDriver() throws', () => {
  const driverOf = redisDrivers()
  const client = () => new Redis({ lazyConnect: true })

  test.each<[what: string, options: unknown, sentence: RegExp]>([
    ['without a place', {}, /give one of url, cluster, sentinels and client/u],
    ['with two places', { url: 'redis://127.0.0.1', client: client() }, /give one of url/u],
    ['with another protocol', { url: `http://:${quoted}@127.0.0.1` }, /a URL is not of the form redis:\/\//u],
    ['with what is no URL', { url: `redis://:${secret}@ x:y` }, /a URL is not of the form redis:\/\//u],
    ['with a database that is none', { url: 'redis://127.0.0.1/x' }, /a URL is not of the form/u],
    ['with a query', { url: 'redis://127.0.0.1?db=1' }, /a URL is not of the form/u],
    ['with a password that cannot be decoded', { url: 'redis://:%ff@127.0.0.1' }, /a URL is not of the form/u],
    ['with a cluster of no nodes', { cluster: [] }, /cluster names no node/u],
    ['with no Sentinel', { sentinels: [], name: 'tokens' }, /sentinels names none/u],
    ['with an empty prefix', { url: 'redis://127.0.0.1', prefix: '' }, /the prefix is empty/u],
    ['with half a replica', { url: 'redis://127.0.0.1', waitReplicas: 0.5 }, /waitReplicas must be a whole number/u],
    ['with minus one replica', { url: 'redis://127.0.0.1', waitReplicas: -1 }, /waitReplicas must be a whole number/u],
    ['with no time', { url: 'redis://127.0.0.1', operationTimeout: 0 }, /operationTimeout must be/u],
    ['with a time that is no number', { url: 'redis://127.0.0.1', operationTimeout: Number.NaN }, /operationTimeout/u],
    ['for a client with a keyPrefix', { client: new Redis({ lazyConnect: true, keyPrefix: 'x' }) }, /keyPrefix/u],
    [
      'for a client that reads from replicas',
      { client: new Cluster([{ port: 1 }], { lazyConnect: true, scaleReads: 'slave' }) },
      /reads from replicas/u,
    ],
    ['for a client that sends again', { client: client(), waitReplicas: 1 }, /autoResendUnfulfilledCommands: false/u],
    [
      'for a cluster client that sends again',
      { client: new Cluster([{ port: 1 }], { lazyConnect: true }), waitReplicas: 1 },
      /autoResendUnfulfilledCommands: false/u,
    ],
  ])('%s', (_, options, sentence) => {
    expect(() => driverOf(options as RedisDriverOptions)).toThrow(sentence)
    expect(() => driverOf(options as RedisDriverOptions)).not.toThrow('the-p')
  })
})

describeWithRedis('open() of the Redis driver', () => {
  let server: RedisServer
  let locked: RedisServer
  beforeAll(async () => {
    server = await startRedis()
    locked = await startRedis({ arguments: ['--requirepass', secret] })
  })
  afterAll(() => Promise.all([server.stop(), locked.stop()]))
  const driverOf = redisDrivers()

  /** The sentence of the refusal; nothing that a log could show of the error holds a secret, or the argument of a command. */
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

  test('says host, port and reason when nobody listens', async () => {
    const port = await freePort()
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

  test('says so when a password is missing or wrong', async () => {
    const where = `storage: Redis at 127.0.0.1:${locked.port} is not available: `
    expect(await refusal({ url: locked.url })).toBe(`${where}NOAUTH Authentication required.`)
    expect(await refusal({ url: `redis://:other-password@127.0.0.1:${locked.port}` })).toMatch(`${where}WRONGPASS`)
    expect(await refusal({ url: locked.url, connection: { password: 'other-password' } })).toMatch(`${where}WRONGPASS`)
  })

  test('takes the password of the URL and that of the connection', async () => {
    await driverOf({ url: `redis://:${quoted}@127.0.0.1:${locked.port}` }).open()
    await driverOf({ url: locked.url, connection: { password: secret } }).open()
  })

  test('refuses a server that may forget a marker', async () => {
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    expect(await refusal({ url: server.url })).toBe(
      `storage: Redis at 127.0.0.1:${server.port} has the maxmemory-policy allkeys-lru: an evicted marker would let a code be redeemed twice; set maxmemory-policy noeviction`,
    )
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    await driverOf({ url: server.url }).open()
  })

  test('refuses a server that does not say whether it forgets', async () => {
    await server.command('ACL', 'SETUSER', 'blind', 'on', `>${secret}`, '~*', '+@all', '-info')
    expect(await refusal({ url: `redis://blind:${quoted}@127.0.0.1:${server.port}` })).toMatch(
      /NOPERM .*; INFO memory must say that maxmemory-policy is noeviction$/u,
    )
  })

  test('refuses a server with too few replicas', async () => {
    expect(await refusal({ url: server.url, waitReplicas: 1, operationTimeout: 1 })).toBe(
      `storage: Redis at 127.0.0.1:${server.port} has 0 replicas in step, and waitReplicas is 1; attach replicas, or wait for fewer`,
    )
  })

  test('refuses a server that is not of a cluster where a cluster was promised', async () => {
    expect(await refusal({ cluster: [server.url] })).toMatch('ERR This instance has cluster support disabled')
  })

  test('does not hang on a server that does not answer', async () => {
    server.pause()
    try {
      expect(await refusal({ url: server.url, operationTimeout: 0.3 })).toMatch('no answer within 0.3 s')
    } finally {
      server.resume()
    }
  })

  // ioredis keeps in mind that a client was told to disconnect, and takes the next loss of its connection for meant.
  test('works at a second attempt, and that driver survives an outage like any other', async () => {
    const late = await startRedis()
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
    await expect.poll(() => driver.getItem('key').catch(({ message }) => message), { timeout: 10_000 }).toBeNull()
    await late.stop()
  })

  test('is not needed: what comes first opens, and refuses what open() refuses', async () => {
    expect(await driverOf({ url: server.url }).insertItem('unopened', 'x', { ttl: 60 })).toBe(true)
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-ttl')
    await expect(driverOf({ url: server.url }).getItem('unopened')).rejects.toThrow('set maxmemory-policy noeviction')
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  })

  test('comes too late after dispose()', async () => {
    const driver = driverOf({ url: server.url })
    await driver.open()
    await driver.dispose()
    await expect(driver.open()).rejects.toThrow('has been disposed of')
    await expect(driver.getItem('key')).rejects.toThrow('has been disposed of')
  })

  describe('leaves nothing behind that keeps a process alive', () => {
    let program: string
    beforeAll(async () => {
      program = await bundle(new URL('./programs/redis-open-and-dispose.ts', import.meta.url))
    })
    afterAll(() => rm(dirname(program), { recursive: true }))

    async function endOf(options: RedisDriverOptions): Promise<readonly [code: number | null, printed: string]> {
      const child = spawn(process.execPath, [program, JSON.stringify(options)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let printed = ''
      child.stdout.on('data', (data) => {
        printed += data
      })
      const timer = setTimeout(() => child.kill('SIGKILL'), 15_000)
      const [code] = await once(child, 'close')
      clearTimeout(timer)
      return [code, printed]
    }

    test('after use and dispose()', async () => {
      expect(await endOf({ url: server.url })).toEqual([0, 'disposed of\n'])
    })

    test('after use and dispose() with Sentinels', async () => {
      const sentinel = await startSentinel(server)
      const sentinels = [{ host: '127.0.0.1', port: sentinel.port }]
      expect(await endOf({ sentinels, name: sentinel.name })).toEqual([0, 'disposed of\n'])
      await sentinel.stop()
    })

    test.each(['url', 'cluster', 'sentinels'])('after an open() that was refused, by %s', async (how) => {
      const port = await freePort()
      const url = `redis://127.0.0.1:${port}`
      const place = {
        url: { url },
        cluster: { cluster: [url] },
        sentinels: { sentinels: [{ host: '127.0.0.1', port }], name: 'x' },
      }
      const options = { ...place[how as 'url'], operationTimeout: 1 }
      expect(await endOf(options)).toEqual([0, expect.stringContaining('storage: Redis ')])
    })

    test('after an open() that was refused because of the policy', async () => {
      const forgetful = await startRedis({ arguments: ['--maxmemory-policy', 'allkeys-random'] })
      expect(await endOf({ url: forgetful.url })).toEqual([0, expect.stringContaining('noeviction')])
      await forgetful.stop()
    })
  })
})
