// A real server whose storage stops responding, or is unusable from the start.

import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { newDirectory, realServerProgram } from '../support/server-program.ts'
import { settingClients } from '../support/server-setting.ts'
import {
  expectOutage,
  expectService,
  logIn,
  operationTimeout,
  type RealServer,
  refresh,
  startRealServer,
  storageRequests,
  unavailable,
} from './real-server.ts'
import { configured, refusal, sentenceOf, serve, storagePassword } from './refused-start.ts'
import { endingOf } from './start-up.ts'

const directory = newDirectory()
let program = ''
beforeAll(async () => {
  program = await realServerProgram()
  // One test runs it as another user.
  chmodSync(directory, 0o755)
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const running: { stop(): Promise<unknown> }[] = []
// Also runs after a failed expectation, so that no process outlives its test.
afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.stop()))
})

async function redisWith(...parameters: readonly string[]): Promise<RedisServer> {
  const redis = await startRedis({ arguments: parameters })
  running.push(redis)
  return redis
}

async function startServer(storage: object): Promise<RealServer> {
  const server = await startRealServer(program, mkdtempSync(join(directory, 'server-')), storage)
  running.push(server)
  return server
}

describeWithRedis('Redis becomes unavailable while the server runs', () => {
  const storageOf = (redis: RedisServer) => ({
    driver: 'redis',
    url: redis.url.replace('//', `//:${storagePassword}@`),
    operationTimeout,
  })
  // It restarts with its data, like a reliable Redis.
  const lasting = ['--requirepass', storagePassword, '--appendonly', 'yes', '--appendfsync', 'always']

  describe.each<[string, (redis: RedisServer) => unknown, (redis: RedisServer) => unknown]>([
    ['paused', (redis) => redis.pause(), (redis) => redis.resume()],
    ['killed, and started again', (redis) => redis.kill(), (redis) => redis.restart()],
  ])('it is %s', (_, takeAway, giveBack) => {
    test('requests get 503 in time, and work again without a restart', async () => {
      const redis = await redisWith(...lasting)
      const server = await startServer(storageOf(redis))
      // One gets reference tokens, the other JWTs.
      const tokens = await Promise.all(settingClients.map((client) => logIn(server, client)))
      for (let round = 0; round < 2; round += 1) {
        await takeAway(redis)
        await Promise.all(tokens.map((each) => expectOutage(server, each)))
        await giveBack(redis)
        await server.ready()
      }
      for (const each of tokens) await expectService(server, each)
      expect(server.output()).toContain(`redis: 127.0.0.1:${redis.port}`)
      expect(server.output()).toContain('is not available')
      expect(server.output()).not.toContain(storagePassword)
    })
  })

  const limit = (redis: RedisServer, bytes: number) => redis.command('CONFIG', 'SET', 'maxmemory', bytes)

  test('full: nothing is issued or spent; once there is memory, the same refresh token works', async () => {
    const redis = await redisWith()
    const server = await startServer({ driver: 'redis', url: redis.url, operationTimeout })
    const tokens = await logIn(server)
    await limit(redis, 100_000)
    const before = await redis.command('DBSIZE')
    const requests = storageRequests(server, tokens)
    for (const send of [requests.refresh, requests['log-in'], requests.revocation])
      expect(await send()).toMatchObject(unavailable)
    expect(await redis.command('DBSIZE')).toBe(before)
    expect(await requests.introspection()).toMatchObject({ status: 200, body: { active: true } })
    expect(await server.get('/health/ready')).toMatchObject({ status: 503 })
    await limit(redis, 0)
    await server.ready()
    await expectService(server, tokens)
  })

  test('full in the middle of a refresh: a retry succeeds later', async () => {
    const redis = await redisWith()
    const server = await startServer({ driver: 'redis', url: redis.url, operationTimeout })
    const tokens = await logIn(server)
    let token = tokens.refresh
    for (let round = 0; round < 5; round += 1) {
      const used = /used_memory:(\d+)/u.exec(String(await redis.command('INFO', 'memory')))?.[1]
      await limit(redis, Number(used) + 50_000)
      let response = await refresh(server, tokens, token)
      for (let count = 0; response.status === 200 && count < 2000; count += 1) {
        token = String(response.body.refresh_token)
        response = await refresh(server, tokens, token)
      }
      expect(response).toMatchObject(unavailable)
      await limit(redis, 0)
      const later = await refresh(server, tokens, token)
      expect(later).toMatchObject({ status: 200 })
      token = String(later.body.refresh_token)
    }
  })
})

describeWithRedis('an unusable Redis ends the start with one line', () => {
  test('no server listens', async () => {
    const port = await reservedPort()
    const url = `redis://:${storagePassword}@127.0.0.1:${port}`
    const sentence = await refusal(directory, { driver: 'redis', url, operationTimeout: 2 })
    expect(sentence).toMatch(new RegExp(`Redis at 127\\.0\\.0\\.1:${port} is not available: .*ECONNREFUSED`, 'u'))
  })

  test('the password is wrong', async () => {
    const redis = await redisWith('--requirepass', 'another')
    const sentence = await refusal(directory, {
      driver: 'redis',
      url: redis.url.replace('//', `//:${storagePassword}@`),
    })
    expect(sentence).toContain('WRONGPASS')
  })

  test('it evicts keys', async () => {
    const redis = await redisWith('--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru')
    const sentence = await refusal(directory, { driver: 'redis', url: redis.url })
    expect(sentence).toContain('allkeys-lru')
    expect(sentence).toContain('set maxmemory-policy noeviction')
  })
})

describe('an unusable directory ends the start with one line', () => {
  const place = () => mkdtempSync(join(directory, 'place-'))
  const otherUser = 65_534

  test('other users can read it', async () => {
    const path = place()
    chmodSync(path, 0o755)
    const sentence = `other users of this machine can access ${path}; run chmod 700 ${path}`
    expect(await refusal(directory, { driver: 'filesystem', directory: path })).toContain(sentence)
  })

  test('it is a file', async () => {
    const path = join(place(), 'file')
    writeFileSync(path, '')
    expect(await refusal(directory, { driver: 'filesystem', directory: path })).toContain(
      `${path} is a file; set a directory`,
    )
  })

  test.each<[string, number, (path: string) => object, RegExp]>([
    [
      'writable',
      0o500,
      (path) => ({ driver: 'filesystem', directory: path }),
      / cannot be used \(E\w+\); use a directory on a writable local disk/u,
    ],
    [
      'readable, for SQLite',
      0o000,
      (path) => ({ driver: 'sqlite', file: join(path, 'grantry.db') }),
      /grantry\.db cannot be accessed \(EACCES\); make the user of this process its owner$/u,
    ],
  ])('it is not %s', async (_what, mode, storage, expected) => {
    const path = place()
    const isRoot = process.getuid?.() === 0
    // Root can write everywhere, so another user runs the server.
    if (isRoot) chownSync(path, otherUser, otherUser)
    chmodSync(path, mode)
    const file = configured(directory, storage(path))
    // In a process, to prove that it ends.
    const sentence = sentenceOf(file, await endingOf(program, serve(file), isRoot ? otherUser : undefined))
    expect(sentence).toMatch(expected)
  })
})
