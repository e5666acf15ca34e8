// A real server whose storage stops responding, or is unusable from the start.

import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { reservedPort } from '../support/reserved-port.ts'
import { newDirectory, serverProgram } from '../support/server-program.ts'
import { settingClients, writeSetting } from '../support/server-setting.ts'
import { printed } from './printed.ts'
import {
  expectOutage,
  expectService,
  logIn,
  type RealServer,
  refresh,
  startRealServer,
  storageRequests,
  unavailable,
} from './real-server.ts'
import { type Ending, endingOf } from './start-up.ts'

const password = 'a-password-that-otherUser-may-read'
const directory = newDirectory()
let program = ''
beforeAll(async () => {
  program = await serverProgram(new URL('../support/programs/server.ts', import.meta.url), directory)
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
    url: redis.url.replace('//', `//:${password}@`),
    operationTimeout: 0.5,
  })
  // It restarts with its data, like a reliable Redis.
  const lasting = ['--requirepass', password, '--appendonly', 'yes', '--appendfsync', 'always']

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
      expect(server.output()).not.toContain(password)
    })
  })

  const limit = (redis: RedisServer, bytes: number) => redis.command('CONFIG', 'SET', 'maxmemory', bytes)

  test('full: nothing is issued or spent; once there is memory, the same refresh token works', async () => {
    const redis = await redisWith()
    const server = await startServer({ driver: 'redis', url: redis.url, operationTimeout: 0.5 })
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
    const server = await startServer({ driver: 'redis', url: redis.url, operationTimeout: 0.5 })
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

/** Writes a configuration with this storage. */
function configured(storage: object): string {
  const home = mkdtempSync(join(directory, 'refused-'))
  chmodSync(home, 0o755)
  const file = writeSetting(home, 'http://127.0.0.1:8484', storage, 1)
  for (const name of ['jwks.json', 'grantry.config.json']) chmodSync(join(home, name), 0o644)
  return file
}

const serve = (file: string) => ['serve', '--config', file, '--port', '0', '--log-format', 'text']

/** Returns the one-line error without the names of the program and the file, and checks that it contains no password. */
function sentenceOf(file: string, { code, out, err }: Ending): string {
  expect(out).toBe('')
  expect(err).not.toContain(password)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
  const start = `grantry: ${file}: `
  expect(err.slice(0, start.length)).toBe(start)
  expect(code).toBe(1)
  return err.slice(start.length).trimEnd()
}

async function refusal(storage: object): Promise<string> {
  const file = configured(storage)
  return sentenceOf(file, await printed(...serve(file)))
}

describeWithRedis('an unusable Redis ends the start with one line', () => {
  test('no server listens', async () => {
    const port = await reservedPort()
    const url = `redis://:${password}@127.0.0.1:${port}`
    const sentence = await refusal({ driver: 'redis', url, operationTimeout: 0.5 })
    expect(sentence).toMatch(new RegExp(`Redis at 127\\.0\\.0\\.1:${port} is not available: .*ECONNREFUSED`, 'u'))
  })

  test('the password is wrong', async () => {
    const redis = await redisWith('--requirepass', 'another')
    const sentence = await refusal({ driver: 'redis', url: redis.url.replace('//', `//:${password}@`) })
    expect(sentence).toContain('WRONGPASS')
  })

  test('it evicts keys', async () => {
    const redis = await redisWith('--maxmemory', '50mb', '--maxmemory-policy', 'allkeys-lru')
    const sentence = await refusal({ driver: 'redis', url: redis.url })
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
    expect(await refusal({ driver: 'filesystem', directory: path })).toContain(sentence)
  })

  test('it is a file', async () => {
    const path = join(place(), 'file')
    writeFileSync(path, '')
    expect(await refusal({ driver: 'filesystem', directory: path })).toContain(`${path} is a file; set a directory`)
  })

  test('it is not writable', async () => {
    const path = place()
    const isRoot = process.getuid?.() === 0
    // Root can write everywhere, so another user runs the server.
    if (isRoot) chownSync(path, otherUser, otherUser)
    chmodSync(path, 0o500)
    const file = configured({ driver: 'filesystem', directory: path })
    // In a process, to prove that it ends.
    const sentence = sentenceOf(file, await endingOf(program, serve(file), isRoot ? otherUser : undefined))
    expect(sentence).toMatch(/ cannot be used \(E\w+\); use a directory on a writable local disk/u)
  })
})
