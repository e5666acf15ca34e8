// What the kit promises to authors of drivers: one call, a complete report, and no leftover items.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { AtomicDriver } from '@grantry/core'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { mapDriver } from '@grantry/testing'
import { type DriverReport, type DriverSubject, driverProofs, proveDriver } from '@grantry/testing/drivers'
import { describe, expect, test } from 'vitest'
import { separateLocksDriver } from './programs/separate-locks.ts'
import { temporaryFiles } from './programs/table.ts'

const { newDirectory, moduleOf } = temporaryFiles()

const proofOf = (subject: DriverSubject, name: string) => {
  const proof = driverProofs(subject).find((candidate) => candidate.name === name)
  if (proof === undefined) throw new Error(`there is no proof ${name}`)
  return proof
}

describe.concurrent('the report', () => {
  test('lists every proof with its outcome and the reason if it was skipped', async () => {
    const report = await proveDriver({ open: memoryDriver })
    expect(report.driver).toBe('memory')
    expect(report.results.map(({ name }) => name)).toEqual(driverProofs({ open: memoryDriver }).map(({ name }) => name))
    expect(new Set(report.results.map(({ outcome }) => outcome))).toEqual(new Set(['passed', 'skipped']))
    expect(report.text.split('\n')[0]).toBe('memory: 43 passed, 0 failed, 21 skipped')
    expect(report.text).toContain(
      'skipped  lets exactly one of several processes insert (0.0 s)\n           the subject has no module for child processes to load',
    )
    for (const { outcome, messages } of report.results) expect(messages).toHaveLength(outcome === 'passed' ? 0 : 1)
  })

  test('says that the rest was not run when the driver hangs', async () => {
    const subject = { open: () => ({ ...memoryDriver(), setItem: () => new Promise<void>(() => {}) }) }
    const { cause } = (await proveDriver(subject).catch((thrown) => thrown)) as { cause: DriverReport }
    const [first, ...others] = cause.results
    expect(first?.outcome).toBe('failed')
    expect(first?.messages[0]).toMatch(/^setItem\("code:.*\) with a ttl of 3600 s did not end within 5 s$/u)
    expect(new Set(others.flatMap(({ messages }) => messages))).toEqual(
      new Set([
        'not run, because an earlier operation of the driver hung',
        'the subject has no module for child processes to load',
        'the subject has no outage option to make the storage unavailable',
      ]),
    )
  })

  test.each(['insertItem', 'incrementItem', 'replaceItem'])(
    'names the missing method %s() of an incomplete driver',
    async (method) => {
      const open = (): AtomicDriver => ({ ...memoryDriver(), [method]: undefined })
      await expect(proveDriver({ open })).rejects.toThrow(`open() did not return a driver: ${method}() is missing`)
    },
  )

  test.each(['commit', 'getItems', 'listKeys'])(
    'rejects an optional method that is not a function: %s',
    async (method) => {
      const open = (): AtomicDriver => ({ ...memoryDriver(), [method]: true })
      await expect(proveDriver({ open })).rejects.toThrow(`open() returned a driver whose ${method} is not a function`)
    },
  )

  test('limits the number of messages per broken promise', async () => {
    const subject = { open: () => ({ ...memoryDriver(), getItem: () => new Error('EIO') }) }
    const { cause } = (await proveDriver(subject).catch((thrown) => thrown)) as { cause: DriverReport }
    for (const { messages } of cause.results) expect(messages.length).toBeLessThan(10)
  })
})

test.concurrent('the kit removes everything that it writes', async () => {
  const items = new Map<string, string>([['code:mine', '{}']])
  await proveDriver({ open: () => mapDriver(items, () => Date.now() / 1000) })
  expect([...items.keys()]).toEqual(['code:mine'])
})

test('`rounds` repeats the proofs that depend on timing', async () => {
  const inserts = async (rounds: number): Promise<number> => {
    let count = 0
    const good = memoryDriver()
    const open = (): AtomicDriver => ({
      ...good,
      dispose() {},
      insertItem(key, value, options) {
        count += 1
        return good.insertItem(key, value, options)
      },
    })
    await proofOf({ open, rounds }, 'lets exactly one of many concurrent inserts win').prove()
    return count
  }
  expect(await inserts(3)).toBe(3 * (await inserts(1)))
})

describe('driverProofs() for a test runner', () => {
  test('reports for each proof what the subject lacks', () => {
    const without = driverProofs({ open: memoryDriver })
    expect(new Set(without.map(({ name }) => name)).size).toBe(without.length)
    expect(without.filter(({ skipReason }) => skipReason !== undefined)).toHaveLength(13)
    const outage = { begin() {}, end() {} }
    const all = driverProofs({ open: memoryDriver, module: new URL('file:///driver.js'), outage })
    expect(all.filter(({ skipReason }) => skipReason !== undefined)).toEqual([])
  })

  test('rejects with the messages of one promise', async () => {
    const subject = { open: () => ({ ...memoryDriver(), insertItem: () => true }) }
    await expect(proofOf(subject, 'inserts only if the item is absent').prove()).rejects.toThrow(
      'memory is not safe for codes and tokens:\n- inserts only if the item is absent:\n    insertItem() over an item that was set should return false',
    )
    await expect(proofOf(subject, 'keeps its items when it is opened twice').prove()).resolves.toBeUndefined()
    await expect(proofOf(subject, 'lets exactly one of several processes insert').prove()).rejects.toThrow(
      'cannot run, because the subject has no module for child processes to load',
    )
  })

  test.each<[string, object]>([
    ['open must be a function that returns a driver', { open: memoryDriver() }],
    ['module must be a URL', { module: './driver.js' }],
    ['processes must be a whole number, 2 to 32', { processes: 1 }],
    ['processes must be a whole number, 2 to 32', { processes: 2.5 }],
    ['rounds must be a whole number, 1 to 1000', { rounds: 0 }],
    ['operationTimeout must be a whole number, 1 to 60', { operationTimeout: 0 }],
    ['outage must have begin() and end()', { outage: {} }],
  ])('rejects a malformed subject: %s', async (message, part) => {
    const subject = { open: memoryDriver, ...part } as DriverSubject
    expect(() => driverProofs(subject)).toThrow(new TypeError(message))
    await expect(proveDriver(subject)).rejects.toThrow(new TypeError(message))
  })
})

// Each test uses its own `expect`: the shared one reports a failure that is retried to a test that runs at the same time.
describe.concurrent('between processes', () => {
  const oneOfTwo = 'of 2 processes that insert one key, exactly 1 should win, but 2 did'
  const killed = 'survives a process that is killed while it writes'

  // A lock in one process does not bind another: measured, every process redeems the code.
  test.for<readonly [proof: string, halves: string | undefined, sentence: RegExp | string]>([
    ['lets exactly one of several processes insert', undefined, oneOfTwo],
    ['lets exactly one of several processes replace an expired item', undefined, oneOfTwo],
    [
      'never returns a partial value that another process is writing',
      'code:',
      /while another process replaces a value, getItem\(\) returned "/u,
    ],
    [killed, 'code:', /a process that was killed during setItem\(\) left "/u],
    [killed, 'spent:', /a process that was killed during insertItem\(\) left "/u],
    [
      'performs each commit of several processes completely or not at all',
      undefined,
      /of concurrent calls of commit\(\) with one key, at most 1 should return true, but 2 did/u,
    ],
    [
      'leaves no part of a commit when a process is killed',
      'access:',
      /a process that was killed during commit\(\) left [1-4] of 5 changes/u,
    ],
  ])('a driver with one lock per process fails: %s (halves: %s)', async ([proof, halves, sentence], { expect }) => {
    const directory = await newDirectory()
    const module = await moduleOf('separate-locks', { directory, ...(halves !== undefined && { halves }) })
    const subject: DriverSubject = { open: () => separateLocksDriver(directory), module, processes: 2 }
    await expect(proofOf(subject, proof).prove()).rejects.toThrow(sentence)
  })

  test('the stored value of the winner is checked', async ({ expect }) => {
    const directory = await newDirectory()
    const module = await moduleOf('wrong-value', { directory })
    const subject: DriverSubject = { open: () => filesystemDriver({ directory }), module, processes: 2 }
    await expect(proofOf(subject, 'lets exactly one of several processes insert').prove()).rejects.toThrow(
      /the value should be that of the process whose insertItem\(\) returned true, but is "\{\\"version\\":1\}"/u,
    )
  })

  test('reports processes that open another storage or do not exit', async ({ expect }) => {
    const subject = { open: memoryDriver, module: await moduleOf('elsewhere', {}), processes: 2 }
    await expect(proofOf(subject, 'lets exactly one of several processes insert').prove()).rejects.toThrow(
      'exactly 1 should win, but 2 did',
    )
    await expect(proofOf(subject, 'lets a process exit after dispose()').prove()).rejects.toThrow(
      /a process should exit within 5 s of dispose\(\), but something kept it alive\n.*open\(\) of the module must open the same storage/u,
    )
  })

  test('reports the error of a module that fails to open', async ({ expect }) => {
    const subject = { open: memoryDriver, module: await moduleOf('unloadable', {}), processes: 2 }
    await expect(proofOf(subject, 'lets exactly one of several processes insert').prove()).rejects.toThrow(
      /a child process exited: .*no such database: tokens/su,
    )
  })
})

// The rest of the kit must run in Deno, Bun and workers too.
test('only the proofs between processes import node: modules, and they are loaded on demand', () => {
  const folder = fileURLToPath(new URL('../../packages/testing/src/drivers/', import.meta.url))
  const sources = readdirSync(folder).map((name) => ({ name, text: readFileSync(folder + name, 'utf8') }))
  const withNode = sources.filter(({ text }) => /from 'node:/u.test(text))
  expect(withNode.map(({ name }) => name)).toEqual(['processes.ts'])
  const importing = sources.filter(({ text }) =>
    text.split('\n').some((line) => /^(?:import|export) (?!type ).*'\.\/processes\.ts'/u.test(line)),
  )
  expect(importing).toEqual([])
})
