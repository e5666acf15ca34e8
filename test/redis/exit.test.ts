// A program that has opened the driver exits by itself when it is done.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { RedisDriverOptions } from '@grantry/storage-drivers/redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundle } from '../support/bundle.ts'
import { lastResort } from '../support/eventually.ts'
import { startRedisCluster } from '../support/redis-cluster.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisServers } from '../support/redis-servers.ts'
import { reservedPort } from '../support/reserved-port.ts'

describeWithRedis('the Redis driver lets a process exit', () => {
  const servers = redisServers()
  let program: string
  beforeAll(async () => {
    program = await bundle(new URL('./programs/open-and-dispose.ts', import.meta.url))
  })
  afterAll(() => rm(dirname(program), { recursive: true }))

  async function endOf(options: RedisDriverOptions): Promise<readonly [code: number | null, printed: string]> {
    const patient = { operationTimeout: lastResort / 1000, ...options }
    const child = spawn(process.execPath, [program, JSON.stringify(patient)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    child.stdout.on('data', (data) => {
      printed += data
    })
    const timer = setTimeout(() => child.kill('SIGKILL'), lastResort)
    const [code] = await once(child, 'close')
    clearTimeout(timer)
    return [code, printed]
  }

  test.concurrent('after use and dispose()', async () => {
    expect(await endOf({ url: (await servers.start()).url })).toEqual([0, 'disposed of\n'])
  })

  test.concurrent('after use and dispose() with Sentinels', async () => {
    const sentinel = await servers.sentinelOf(await servers.start())
    const sentinels = [{ host: '127.0.0.1', port: sentinel.port }]
    expect(await endOf({ sentinels, name: sentinel.name })).toEqual([0, 'disposed of\n'])
  })

  test.concurrent.each(['url', 'cluster', 'sentinels'])('after a failed open(), with %s', async (how) => {
    const port = await reservedPort()
    const url = `redis://127.0.0.1:${port}`
    const place = {
      url: { url },
      cluster: { cluster: [url] },
      sentinels: { sentinels: [{ host: '127.0.0.1', port }], name: 'x' },
    }
    const options = { ...place[how as 'url'], operationTimeout: 1 }
    expect(await endOf(options)).toEqual([0, expect.stringContaining('storage: Redis ')])
  })

  test.concurrent('after an open() that failed because of maxmemory-policy', async () => {
    const forgetful = await servers.start({ arguments: ['--maxmemory-policy', 'allkeys-random'] })
    expect(await endOf({ url: forgetful.url })).toEqual([0, expect.stringContaining('noeviction')])
  })

  test.concurrent('after use and dispose() with a cluster', async () => {
    const cluster = await startRedisCluster(3)
    expect(await endOf({ cluster: cluster.urls })).toEqual([0, 'disposed of\n'])
    await cluster.stop()
  })
})
