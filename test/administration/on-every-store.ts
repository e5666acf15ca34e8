import { rmSync } from 'node:fs'
import { afterAll, describe, test } from 'vitest'
import { networkStores } from '../support/network-stores.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { newDirectory } from '../support/server-program.ts'

/** A test of a storage: `closings` run in reverse order when all tests of the file have ended. */
type StoreTest = (storage: object, closings: (() => unknown)[]) => Promise<void>

/** Defines a test on each storage that several processes can share. */
export function testOnEveryStore(title: string, act: StoreTest): void {
  const closings: (() => unknown)[] = []
  afterAll(async () => {
    for (const close of closings.reverse()) await close()
  })

  async function onNetwork(name: keyof typeof networkStores): Promise<void> {
    const { stop, ...storage } = await networkStores[name]()
    closings.push(stop)
    await act(storage, closings)
  }

  describe(title, () => {
    test('on SQLite', () => onNetwork('sqlite'))
    test('on files', () => {
      const directory = newDirectory()
      closings.push(() => rmSync(directory, { recursive: true, force: true }))
      return act({ driver: 'filesystem', directory }, closings)
    })
  })
  describeWithPostgresql(title, () => {
    test('on PostgreSQL', () => onNetwork('postgresql'))
  })
  describeWithRedis(title, () => {
    test('on Redis', () => onNetwork('redis'))
  })
}
