import { definePlugin, defineTask } from '@grantry/core'
import { createTestProvider } from '@grantry/testing'
import { expect, test } from 'vitest'

test('runs the tasks of all plugins, with the kit of each', async () => {
  const issuers: string[] = []
  const task = defineTask((kit) => void issuers.push(kit.issuer))
  const { provider } = await createTestProvider({
    plugins: [definePlugin('one', [task]), definePlugin('two', [task, task])],
  })
  await provider.runTasks()
  expect(issuers).toEqual(Array.from({ length: 3 }, () => provider.issuer))
})

test.each([
  [
    'throws',
    () => {
      throw new Error('a defect')
    },
  ],
  ['rejects', () => Promise.reject(new Error('a defect'))],
])('a task that %s is an event, and others run, again and again', async (_name, run) => {
  let runs = 0
  const count = () => {
    runs += 1
  }
  const { provider, events } = await createTestProvider({
    plugins: [definePlugin('one', [defineTask(run)]), definePlugin('two', [defineTask(count)])],
  })
  await provider.runTasks()
  await provider.runTasks()
  expect(runs).toBe(2)
  const failures = events.filter(({ type }) => type === 'unhandled_failure')
  expect(failures).toMatchObject([
    { reason: 'task_failed', cause: { message: 'a defect' } },
    { reason: 'task_failed', cause: { message: 'a defect' } },
  ])
})

test('a call during a run waits for that run, and so does close()', async () => {
  let finish = () => {}
  let runs = 0
  const run = (): Promise<void> => {
    runs += 1
    return new Promise((resolve) => {
      finish = resolve
    })
  }
  const { provider } = await createTestProvider({ plugins: [definePlugin('one', [defineTask(run)])] })
  const [first, second] = [provider.runTasks(), provider.runTasks()]
  let isClosed = false
  const closing = provider.close().then(() => {
    isClosed = true
  })
  await Promise.resolve()
  expect([runs, isClosed]).toEqual([1, false])
  finish()
  await Promise.all([first, second, closing])
  expect(runs).toBe(1)
})

test('a task without run() is refused at start', async () => {
  const broken = defineTask(undefined as never)
  await expect(createTestProvider({ plugins: [definePlugin('one', [broken])] })).rejects.toThrow(
    'plugins: the task of one: run must be a function',
  )
})
