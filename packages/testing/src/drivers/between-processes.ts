import type { Operations } from './operations.ts'
import type { Call, DriverProcess, Outcome } from './processes.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { abbreviate, freshKey, isSameValue, recordOf } from './sample-records.ts'
import { sleep, untilRecovered, yieldToOthers } from './timing.ts'
import { isWhole, largeValues } from './torn-reads.ts'

const concurrentKeys = 300
const concurrentExpiringKeys = 120

/** Starts processes with the subject's module, and kills them at the end in any case. */
export async function withProcesses(
  context: ProofContext,
  use: (children: readonly DriverProcess[]) => Promise<void>,
): Promise<void> {
  const { module, processes = 4 } = context.subject
  if (module === undefined) throw new TypeError('module must be given')
  // Imported only here: the rest of the kit runs on platforms without child processes.
  const { startProcesses } = await import('./processes.ts')
  const children = await startProcesses(module, processes)
  try {
    await use(children)
  } finally {
    await Promise.all(children.map((child) => child.kill()))
  }
}

/** Runs calls in all processes at the same time: each has received its own before the first one starts. */
export async function performTogether(
  children: readonly DriverProcess[],
  callsOf: (index: number) => readonly Call[],
  order: { readonly serial?: boolean } = {},
): Promise<readonly (readonly Outcome[])[]> {
  const starts = await Promise.all(children.map((child, index) => child.prepare(callsOf(index), order)))
  return Promise.all(starts.map((start) => start()))
}

/** Waits until another process has written the item, or has ended its calls. */
export async function untilWritten(driver: Operations, key: string, calls: Promise<unknown>): Promise<void> {
  let ended = false
  void calls.then(() => {
    ended = true
  })
  while (!ended && (await driver.get(key)) === undefined) await sleep(1)
}

/**
 * Each process inserts every key, together with the others or at each of the moments. Per key, exactly one insert must
 * win, and its value must be stored.
 */
async function race(
  context: ProofContext,
  driver: Operations,
  children: readonly DriverProcess[],
  { keys, moments }: { readonly keys: readonly string[]; readonly moments?: readonly number[] },
): Promise<void> {
  context.trackKeys(keys)
  const newAttempt = (index: number, when: string) => {
    const written = recordOf(`process ${index} ${when}`)
    // Every other process goes in reverse order, so that even a late process collides with the others.
    const order = index % 2 === 0 ? keys : [...keys].reverse()
    return {
      calls: order.map((key): Call => ['insertItem', key, written, { ttl: 3600 }]),
      resultOf: (outcomes: readonly Outcome[]) => ({
        written,
        outcomes: new Map(order.map((key, place) => [key, outcomes[place] as Outcome])),
      }),
    }
  }
  async function attemptTogether() {
    const each = children.map((_, index) => newAttempt(index, 'with the others'))
    const outcomes = await performTogether(children, (index) => each[index]?.calls ?? [])
    return each.map(({ resultOf }, index) => resultOf(outcomes[index] ?? []))
  }
  const attemptAt = (at: number) =>
    children.map(async (child, index) => {
      const { calls, resultOf } = newAttempt(index, `at ${at}`)
      return resultOf(await child.perform(calls, { at }))
    })
  const attempts = await (moments === undefined ? attemptTogether() : Promise.all(moments.flatMap(attemptAt)))
  for (const key of keys) {
    const results = attempts.map(({ written, outcomes }) => ({ written, ...outcomes.get(key) }))
    const failed = results.find(({ error }) => error !== undefined)
    if (failed !== undefined) context.fail(`insertItem() failed in another process: ${failed.error}`)
    const [winner, ...others] = results.filter(({ value }) => value === true)
    if (winner === undefined || others.length > 0) {
      const count = winner === undefined ? 0 : others.length + 1
      context.fail(`of ${children.length} processes that insert one key, exactly 1 should win, but ${count} did`)
      continue
    }
    const stored = await driver.get(key)
    if (isSameValue(stored, winner.written)) continue
    context.fail(
      `the value should be that of the process whose insertItem() returned true, but is ${abbreviate(stored)}`,
    )
  }
}

const freshKeys = (count: number): string[] => Array.from({ length: count }, () => freshKey('spent:code'))

const replacements = (key: string): readonly Call[] =>
  Array.from(
    { length: 40 },
    (_, index): Call => ['setItem', key, largeValues[index % largeValues.length], { ttl: 3600 }],
  )

/** Writes large values to one key and inserts new keys in between. */
const writes = (key: string, inserted: readonly string[]): readonly Call[] =>
  inserted.flatMap((fresh, index): Call[] => [
    ['setItem', key, largeValues[index % largeValues.length], { ttl: 3600 }],
    ['insertItem', fresh, largeValues[0], { ttl: 3600 }],
  ])

async function proveKill(context: ProofContext, driver: Operations, child: DriverProcess): Promise<void> {
  const key = freshKey()
  const inserted = freshKeys(30)
  context.trackKeys([key, ...inserted])
  // The calls never complete: the process is killed meanwhile.
  const writing = child.perform(writes(key, inserted), { serial: true }).catch(() => undefined)
  await untilWritten(driver, inserted[1] as string, writing)
  await child.kill()
  await writing
  const stored = await driver.get(key)
  if (!isWhole(stored)) context.fail(`a process that was killed during setItem() left ${abbreviate(stored)}`)
  await Promise.all(
    inserted.map(async (fresh) => {
      const left = await driver.get(fresh)
      if (left !== undefined && !isWhole(left)) {
        context.fail(`a process that was killed during insertItem() left ${abbreviate(left)}`)
      }
      if (left !== undefined || (await driver.insert(fresh, recordOf('after')))) return
      // A database can still perform the last statement of the process.
      if (isWhole(await driver.get(fresh))) return
      context.fail('insertItem() should return true for a key that a killed process did not insert, but returned false')
    }),
  )
  const replace = async (): Promise<unknown> => {
    await driver.set(key, recordOf('after'))
    return driver.get(key)
  }
  const isReplaced = (value: unknown): boolean => isSameValue(value, recordOf('after'))
  if (!isReplaced(await untilRecovered(replace, isReplaced)))
    context.fail('after a process was killed, setItem() no longer stores a value under its key')
}

export const betweenProcesses: readonly Proof[] = [
  {
    name: 'lets exactly one of several processes insert',
    needs: 'module',
    run: (context) =>
      withProcesses(context, async (children) => {
        const driver = await context.open()
        for (let round = 0; round < context.rounds; round += 1) {
          await race(context, driver, children, { keys: freshKeys(concurrentKeys) })
        }
      }),
  },
  {
    name: 'lets exactly one of several processes replace an expired item',
    needs: 'module',
    run: (context) =>
      withProcesses(context, async (children) => {
        const driver = await context.open()
        for (let round = 0; round < context.rounds; round += 1) {
          const keys = freshKeys(concurrentExpiringKeys)
          const begun = Date.now()
          await Promise.all(keys.map((key) => driver.set(key, recordOf('expiring'), 1)))
          const written = Date.now()
          // Around the expiry of each item, where races happen, and once more when all have certainly expired.
          const moments = Array.from({ length: 8 }, (_, index) => begun + 1000 + index * 40)
          await race(context, driver, children, { keys, moments: [...moments, written + 2500] })
        }
      }),
  },
  {
    name: 'never returns a partial value that another process is writing',
    needs: 'module',
    run: (context) =>
      withProcesses(context, async (children) => {
        const driver = await context.open()
        const key = freshKey()
        await driver.set(key, largeValues[0] as string)
        let writing = true
        const writers = Promise.all(
          children.slice(0, 2).map((child) => child.perform(replacements(key), { serial: true })),
        ).finally(() => {
          writing = false
        })
        // Once more when everything is written.
        for (let isLast = false; !isLast; ) {
          isLast = !writing
          const begun = performance.now()
          const stored = await driver.get(key)
          await yieldToOthers(begun)
          if (isWhole(stored)) continue
          context.fail(`while another process replaces a value, getItem() returned ${abbreviate(stored)}`)
          break
        }
        const failed = (await writers).flat().find(({ error }) => error !== undefined)
        if (failed !== undefined) context.fail(`setItem() failed in another process: ${failed.error}`)
      }),
  },
  {
    name: 'survives a process that is killed while it writes',
    needs: 'module',
    run: (context) =>
      withProcesses(context, async (children) => {
        const driver = await context.open()
        for (const child of children) await proveKill(context, driver, child)
      }),
  },
  {
    name: 'lets a process exit after dispose()',
    needs: 'module',
    run: (context) =>
      withProcesses(context, async (children) => {
        const keys = freshKeys(children.length)
        context.trackKeys(keys)
        const driver = await context.open()
        await Promise.all(
          children.map((child, index) =>
            child.perform([['insertItem', keys[index], recordOf(1), { ttl: 3600 }]], { serial: true }),
          ),
        )
        const ended = await Promise.all(children.map((child) => child.end()))
        if (ended.includes(false))
          context.fail('a process should exit within 5 s of dispose(), but something kept it alive')
        if ((await driver.get(keys[0] as string)) === undefined) {
          context.fail(
            'an item that another process inserted is not visible here; open() of the module must open the same storage',
          )
        }
      }),
  },
]
