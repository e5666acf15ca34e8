import type { Operations } from './operations.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { freshKey, isSameValue, recordOf } from './sample-records.ts'
import { sleep } from './timing.ts'

/** Milliseconds by which an item may expire early: clocks differ slightly. */
export const earlyBy = 100
/** Milliseconds by which an item may expire late: a store may use whole seconds. */
export const late = 1500

const day = 86_400

/** The last part of its life in which an item must have been seen, or the machine was too busy to watch it. */
export const lastPart = 0.25
/** Seconds. Items that live longer can be watched on any machine. */
export const longestLife = 20

/**
 * Watches an item from its write to its expiry. Valid on slow machines and stores: it only counts results received
 * before the expiry and reads started after it. Resolves to whether it saw enough to find an item that expires early.
 */
async function watch(
  context: ProofContext,
  { get }: Operations,
  item: { readonly key: string; readonly what: string; readonly atLeast: number; readonly atMost: number },
  write: () => Promise<unknown>,
): Promise<boolean> {
  const { key, what, atLeast, atMost } = item
  const startedAt = performance.now()
  await write()
  const written = performance.now()
  let lastSeen = startedAt
  for (;;) {
    const checkedAt = performance.now()
    const stored = await get(key)
    const lived = performance.now() - startedAt
    if (stored === undefined) {
      if (lived < atLeast * 1000 - earlyBy) {
        context.fail(`${what} should live for ${atLeast} s, but was gone after ${(lived / 1000).toFixed(2)} s`)
        return true
      }
      return lastSeen - startedAt >= atLeast * 1000 * (1 - lastPart)
    }
    lastSeen = checkedAt
    if (checkedAt - written > atMost * 1000 + late) {
      context.fail(
        `${what} should be gone after ${atMost} s, but still existed after ${((checkedAt - written) / 1000).toFixed(1)} s`,
      )
      return true
    }
    await sleep(40)
  }
}

/**
 * Watches an item that must live for exactly its ttl, in seconds. Again with twice the ttl if the machine was too busy.
 *
 * @param what describes the item: `an item that was set`
 * @param write writes an item under a new key. Resolves to `false` if this took so long that there is nothing to watch
 */
export async function watchLife(
  context: ProofContext,
  driver: Operations,
  [what, seconds]: readonly [what: string, ttl: number],
  write: (key: string, ttl: number) => Promise<unknown>,
): Promise<void> {
  for (let ttl = seconds; ; ttl *= 2) {
    const key = freshKey()
    const item = { key, what: `${what} with a ttl of ${ttl} s`, atLeast: ttl, atMost: ttl }
    let isWritten = true
    const isSeen = await watch(context, driver, item, async () => {
      isWritten = (await write(key, ttl)) !== false
    })
    if ((isSeen && isWritten) || ttl > longestLife) return
  }
}

export const expiry: readonly Proof[] = [
  {
    name: 'expires an item after its ttl, neither earlier nor much later',
    waits: true,
    async run(context) {
      const driver = await context.open()
      await Promise.all([
        watchLife(context, driver, ['an item that was set', 1], (key, ttl) => driver.set(key, recordOf(1), ttl)),
        watchLife(context, driver, ['an item that was inserted', 2], async (key, ttl) => {
          await driver.insert(key, recordOf(1), ttl)
        }),
      ])
    },
  },
  {
    name: 'accepts a ttl with a fraction of a second',
    waits: true,
    async run(context) {
      const driver = await context.open()
      await Promise.all(
        [0.5, 1.5].map(async (ttl) => {
          const [set, inserted] = [freshKey(), freshKey()]
          // Rounding up or down is fine: the core uses whole seconds.
          const bounds = { atLeast: 0, atMost: Math.ceil(ttl) }
          const what = `an item with a ttl of ${ttl} s`
          await Promise.all([
            watch(context, driver, { ...bounds, what, key: set }, () => driver.set(set, recordOf(1), ttl)),
            watch(context, driver, { ...bounds, what, key: inserted }, () => driver.insert(inserted, recordOf(1), ttl)),
          ])
        }),
      )
    },
  },
  {
    name: 'never returns an item whose ttl is 0 or less',
    async run(context) {
      const driver = await context.open()
      for (const ttl of [0, -1, -40 * day]) {
        const [set, inserted, replaced] = [freshKey(), freshKey(), freshKey()]
        const outcomes = {
          set: await context.attempt(() => driver.set(set, recordOf('over'), ttl)),
          inserted: await context.attempt(() => driver.insert(inserted, recordOf('over'), ttl)),
        }
        await driver.set(replaced, recordOf('earlier'))
        await context.attempt(() => driver.set(replaced, recordOf('over'), ttl))
        for (const [what, key] of Object.entries({ set, inserted })) {
          if ((await driver.get(key)) !== undefined)
            context.fail(`an item that was ${what} with a ttl of ${ttl} s must not be readable`)
          if (outcomes[what as 'set' | 'inserted'] !== undefined && !(await driver.insert(key, recordOf('next')))) {
            context.fail(
              `an item that was ${what} with a ttl of ${ttl} s must not make a later insertItem() return false`,
            )
          }
        }
        if (isSameValue(await driver.get(replaced), recordOf('over'))) {
          context.fail(`a value that was set over an item with a ttl of ${ttl} s must not be readable`)
        }
      }
    },
  },
  {
    // setTimeout() fires immediately for more than 24.8 days: measured, a driver that uses timers lost every refresh
    // token.
    name: 'keeps an item for 40 days',
    waits: true,
    async run(context) {
      const driver = await context.open()
      const items = [24.9, 25, 40, 400].flatMap((days) => [
        { key: freshKey(), how: 'set', days },
        { key: freshKey(), how: 'inserted', days },
      ])
      for (const { key, how, days } of items) {
        await (how === 'set'
          ? driver.set(key, recordOf(1), Math.round(days * day))
          : driver.insert(key, recordOf(1), Math.round(days * day)))
      }
      await sleep(1200)
      // Later writes may trigger a sweep.
      for (let write = 0; write < 20; write += 1) await driver.set(freshKey(), recordOf(write), 1)
      for (const { key, how, days } of items) {
        if ((await driver.get(key)) === undefined) {
          context.fail(`an item that was ${how} with a ttl of ${days} days was gone after a second`)
        }
      }
    },
  },
  {
    name: 'replaces the expiry with a later set',
    waits: true,
    async run(context) {
      const driver = await context.open()
      const [longer, inserted] = [freshKey(), freshKey()]
      await driver.set(longer, recordOf('earlier'), 1)
      await driver.insert(inserted, recordOf('earlier'), 1)
      for (const key of [longer, inserted]) await driver.set(key, recordOf('later'), 3600)
      await watchLife(context, driver, ['an item that was set again', 1], async (key, ttl) => {
        await driver.set(key, recordOf('earlier'), 3600)
        await driver.set(key, recordOf('later'), ttl)
      })
      await sleep(1000)
      for (const key of [longer, inserted]) {
        if (!isSameValue(await driver.get(key), recordOf('later'))) {
          context.fail('an item that was set again with a ttl of an hour expired after its earlier ttl of 1 s')
        }
      }
    },
  },
  {
    name: 'does not change the expiry with a refused insert',
    waits: true,
    async run(context) {
      const driver = await context.open()
      const long = freshKey()
      await driver.insert(long, recordOf('first'), 3600)
      await driver.insert(long, recordOf('refused'), 1)
      await watchLife(context, driver, ['an item after a refused insert', 1], async (key, ttl) => {
        await driver.insert(key, recordOf('first'), ttl)
        const hasExpired = await driver.insert(key, recordOf('refused'), 3600)
        if (hasExpired) await driver.remove(key)
        return !hasExpired
      })
      await sleep(1000)
      if (!isSameValue(await driver.get(long), recordOf('first'))) {
        context.fail('an insertItem() that returned false shortened the life of the existing item')
      }
    },
  },
]
