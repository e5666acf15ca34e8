// Many calls change one record in step, because each call of the storage takes as long as the others: without turns and
// pauses, the same ones win each time, and the others fail with 503.
import type { AtomicDriver, EndpointKit } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestProvider } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTurns } from '../../packages/core/src/records/store.ts'
import { kitOf, kitPlugin } from '../support/kit-of.ts'
import { pause } from '../support/pause.ts'

/** Each operation takes as long as the others. */
function steady(driver: AtomicDriver, milliseconds: number) {
  let calls = 0
  const later = async <T>(act: () => T | Promise<T>): Promise<T> => {
    calls += 1
    await pause(milliseconds)
    return act()
  }
  const storage: AtomicDriver = {
    ...driver,
    getItem: (key) => later(() => driver.getItem(key)),
    insertItem: (key, value, options) => later(() => driver.insertItem(key, value, options)),
    replaceItem: (key, change) => later(() => driver.replaceItem(key, change)),
  }
  return { storage, calls: () => calls }
}

const numbers = v.array(v.number())

/** Opens providers on one storage, as processes are. Returns what adds a number to one list, in each, and the list. */
async function setUp(processes: number) {
  const { storage, calls } = steady(memoryDriver(), 1)
  const plugins = [clientCredentials(), kitPlugin('lists')]
  const opened = Array.from({ length: processes }, () => createTestProvider({ plugins, storage }))
  const kits = (await Promise.all(opened)).map(({ provider }) => kitOf(provider, 'lists'))
  const isAdded = async (number: number): Promise<boolean> => {
    const { records, now } = kits[number % processes] as EndpointKit
    const adding = records.update('list', numbers, (list = []) => ({
      value: [...list, number],
      expiresAt: now() + 600,
    }))
    return adding.then(
      () => true,
      () => false,
    )
  }
  return { isAdded, list: async () => (await kits[0]?.records.get('list', numbers)) ?? [], calls }
}

const inOrder = (list: readonly number[]): readonly number[] => [...list].sort((left, right) => left - right)
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

test.each([1, 4])('a change succeeds beside loops of changes that do not end, in %i processes', async (processes) => {
  const { isAdded, list } = await setUp(processes)
  let isOver = false
  let count = 5
  const outcomes: boolean[] = []
  const add = async (number: number): Promise<void> => {
    outcomes.push(await isAdded(number))
  }
  const loops = upTo(6).map(async () => {
    while (!isOver) {
      count += 1
      await add(count - 1)
    }
  })
  await Promise.all(upTo(5).map(add))
  isOver = true
  await Promise.all(loops)
  expect(outcomes.filter((outcome) => !outcome)).toEqual([])
  expect(inOrder(await list())).toEqual(upTo(count))
})

test.each([1, 4])('200 changes at the same moment all succeed, in %i processes', async (processes) => {
  const { isAdded, list } = await setUp(processes)
  const outcomes = await Promise.all(upTo(200).map(isAdded))
  expect(outcomes.filter((outcome) => !outcome)).toEqual([])
  expect(inOrder(await list())).toEqual(upTo(200))
})

test('changes in one process do not disturb each other: each reads and writes once', async () => {
  const { isAdded, list, calls } = await setUp(1)
  const before = calls()
  // A busy machine would let them wait for longer than the time limit.
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const adding = Promise.all(upTo(50).map(isAdded))
  await vi.advanceTimersByTimeAsync(100)
  await adding
  vi.useRealTimers()
  expect(calls() - before).toBe(100)
  expect(await list()).toEqual(upTo(50))
})

describe('turns', () => {
  /** A task that ends when the test lets it, and appends its name to what has begun. */
  function tasks() {
    const begun: string[] = []
    const task = (name: string) => {
      let end: (failure?: Error) => void = () => undefined
      const act = (): Promise<void> => {
        begun.push(name)
        return new Promise((resolve, reject) => {
          end = (failure) => (failure === undefined ? resolve() : reject(failure))
        })
      }
      return { act, end: (failure?: Error) => end(failure) }
    }
    return { begun, task }
  }

  test('keep nothing of tasks that have ended or failed, and begin the next one', async () => {
    const turns = createTurns(60_000)
    const { begun, task } = tasks()
    const [first, second, elsewhere] = [task('first'), task('second'), task('elsewhere')]
    const all = [turns.take('key', first.act), turns.take('key', second.act), turns.take('other key', elsewhere.act)]
    expect(begun).toEqual(['first', 'elsewhere'])
    first.end(new Error('It has failed'))
    await expect(all[0]).rejects.toThrow('It has failed')
    await expect.poll(() => begun).toEqual(['first', 'elsewhere', 'second'])
    second.end()
    elsewhere.end()
    await Promise.all(all.slice(1))
    expect(turns.size).toBe(0)
  })

  test('pass a task that hangs after the time limit, once', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const turns = createTurns(2000)
    const { begun, task } = tasks()
    const [hanging, two, three] = [task('hanging'), task('two'), task('three')]
    void turns.take('key', hanging.act)
    const second = turns.take('key', two.act)
    await vi.advanceTimersByTimeAsync(1999)
    expect(begun).toEqual(['hanging'])
    await vi.advanceTimersByTimeAsync(1)
    expect(begun).toEqual(['hanging', 'two'])
    two.end()
    await second
    const third = turns.take('key', three.act)
    three.end()
    await third
    expect([begun, turns.size, vi.getTimerCount()]).toEqual([['hanging', 'two', 'three'], 0, 0])
  })
})
