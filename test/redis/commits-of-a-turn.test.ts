// Commits that are requested in one turn share a command, but none of them depends on another.
import type { DriverChanges } from '@grantry/core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { redisDrivers } from '../support/redis-drivers.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'

const item = (key: string, value = 'new') => ({ key, value, ttl: 60 })
const creating = (key: string, more: Partial<DriverChanges> = {}): DriverChanges => ({
  create: [item(key)],
  put: [],
  remove: [],
  ...more,
})

describeWithRedis('the commits of a turn in Redis', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterEach(() => server.command('FLUSHALL'))
  afterAll(() => server.stop())
  const driverOf = redisDrivers()

  async function opened() {
    const driver = driverOf({ url: server.url })
    await driver.open()
    await server.command('CONFIG', 'RESETSTAT')
    const { commit } = driver
    if (commit === undefined) throw new TypeError('the driver has no commit()')
    return { driver, commit }
  }
  const evals = async (): Promise<number> =>
    Number(/^cmdstat_eval:calls=(\d+)/mu.exec(String(await server.command('INFO', 'commandstats')))?.[1] ?? 0)

  test('share one command', async () => {
    const { driver, commit } = await opened()
    const keys = Array.from({ length: 20 }, (_, index) => `${index}`)
    const outcomes = await Promise.all(
      keys.map((key) =>
        commit(creating(`spent:${key}`, { put: [item(`access:${key}`, key)], remove: [`count:${key}`] })),
      ),
    )
    expect(outcomes).toEqual(keys.map(() => true))
    expect(await evals()).toBe(1)
    for (const key of keys) expect(await driver.getItem(`access:${key}`)).toBe(key)
  })

  test('are independent: one whose key exists fails alone, wherever it is', async () => {
    const { driver, commit } = await opened()
    await driver.insertItem('spent:taken', 'first', { ttl: 60 })
    for (const position of [0, 1, 2]) {
      const names = [0, 1, 2].map((index) => (index === position ? 'taken' : `${position}-${index}`))
      const outcomes = await Promise.all(
        names.map((name) =>
          commit(creating(`spent:${name}`, { put: [item(`access:${name}`)], remove: [`old:${name}`] })),
        ),
      )
      expect(outcomes).toEqual(names.map((name) => (name === 'taken' ? ['spent:taken'] : true)))
      const stored = await Promise.all(names.map((name) => driver.hasItem(`access:${name}`)))
      expect(stored).toEqual(names.map((name) => name !== 'taken'))
    }
    expect(await driver.getItem('spent:taken')).toBe('first')
  })

  test('are independent: one that Redis refuses fails alone, and the others have their own results', async () => {
    const { driver, commit } = await opened()
    await driver.insertItem('spent:taken', 'first', { ttl: 60 })
    // A user who may not remove: the commit that does so fails.
    await server.command('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '+@all', '-unlink')
    const limited = driverOf({ url: server.url, connection: { username: 'app', password: 'secret' } })
    await limited.open()
    const outcomes = await Promise.allSettled([
      limited.commit?.(creating('spent:a', { put: [item('access:a')] })),
      limited.commit?.(creating('spent:b', { remove: ['old:b'] })),
      limited.commit?.(creating('spent:taken', { put: [item('access:c')] })),
      limited.commit?.(creating('spent:d', { put: [item('access:d')] })),
    ])
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: true },
      {
        status: 'rejected',
        reason: expect.objectContaining({ message: expect.stringContaining('returned an error') }),
      },
      { status: 'fulfilled', value: ['spent:taken'] },
      { status: 'fulfilled', value: true },
    ])
    expect(await driver.getItem('access:d')).toBe('new')
    expect(await commit(creating('spent:e'))).toBe(true)
  })

  test('that have a value that is not text are refused before they reach Redis', async () => {
    const { driver, commit } = await opened()
    const outcomes = await Promise.allSettled([
      commit(creating('m1', { put: [item('n1')] })),
      commit({ create: [], put: [{ ...item('x'), value: ['a', 'b'] as never }], remove: [] }),
      commit(creating('m2')),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect([await driver.getItem('n1'), await driver.getItem('x')]).toEqual(['new', null])
  })

  test('that spend the same credential: the first one wins', async () => {
    const { driver, commit } = await opened()
    const outcomes = await Promise.all(
      ['a', 'b', 'c'].map((name) => commit(creating('spent:code', { put: [item(`access:${name}`)] }))),
    )
    expect(outcomes).toEqual([true, ['spent:code'], ['spent:code']])
    expect(await evals()).toBe(1)
    expect((await driver.getKeys()).sort()).toEqual(['access:a', 'spent:code'])
  })

  test('include none with a wrong ttl, which fails no other', async () => {
    const { driver, commit } = await opened()
    const [wrong, right] = await Promise.allSettled([
      commit(creating('spent:1', { put: [{ ...item('access:1'), ttl: 0 }] })),
      commit(creating('spent:2')),
    ])
    expect(wrong).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining('more than 0') } })
    expect(right).toEqual({ status: 'fulfilled', value: true })
    expect(await driver.getKeys()).toEqual(['spent:2'])
  })

  test('are sent in commands of limited size', async () => {
    const { driver, commit } = await opened()
    const put = (commitName: string) => Array.from({ length: 300 }, (_, index) => item(`${commitName}:${index}`))
    const outcomes = await Promise.all(
      ['a', 'b', 'c'].map((name) => commit({ create: [], put: put(name), remove: [] })),
    )
    expect(outcomes).toEqual([true, true, true])
    expect(await evals()).toBe(3)
    expect((await driver.getKeys()).length).toBe(900)
  })

  test('all fail when Redis refuses the command, and write nothing', async () => {
    const { driver, commit } = await opened()
    const all = () => Promise.allSettled([commit(creating('spent:1', { remove: ['x'] })), commit(creating('spent:2'))])
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    for (const outcome of await all()) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining('OOM') } })
    }
    await server.command('CONFIG', 'SET', 'maxmemory', '0')
    expect(await driver.getKeys()).toEqual([])
    expect(await all()).toEqual([true, true].map((value) => ({ status: 'fulfilled', value })))
  })
})
