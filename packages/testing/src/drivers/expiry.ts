import type { Operations } from './operations.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { freshKey, isSameValue, recordOf } from './records.ts'
import { sleep } from './timing.ts'

/** Milliseconds by which an item may expire early: clocks differ slightly. */
const earlyBy = 100
/** Milliseconds by which an item may expire late: a store may use whole seconds. */
const late = 1500

const day = 86_400

/**
 * Watches an item from its write to its expiry. Valid on slow machines and stores: it only counts results received
 * before the expiry and reads started after it.
 */
export async function watch(
  context: ProofContext,
  { get }: Operations,
  item: { readonly key: string; readonly what: string; readonly atLeast: number; readonly atMost: number },
  write: () => Promise<unknown>,
): Promise<void> {
  const { key, what, atLeast, atMost } = item
  const startedAt = performance.now()
  await write()
  const written = performance.now()
  for (;;) {
    const checkedAt = performance.now()
    const found = await get(key)
    const lived = performance.now() - startedAt
    if (found === undefined) {
      if (lived < atLeast * 1000 - earlyBy) {
        context.fail(`${what} should live for ${atLeast} s, but was gone after ${(lived / 1000).toFixed(2)} s`)
      }
      return
    }
    if (checkedAt - written > atMost * 1000 + late) {
      context.fail(
        `${what} should be gone after ${atMost} s, but still existed after ${((checkedAt - written) / 1000).toFixed(1)} s`,
      )
      return
    }
    await sleep(40)
  }
}

export const exactly = (key: string, what: string, seconds: number) => ({
  key,
  what,
  atLeast: seconds,
  atMost: seconds,
})

export const expiry: readonly Proof[] = [
  {
    name: 'expires an item after its ttl, neither earlier nor much later',
    waits: true,
    async run(context) {
      const driver = await context.open()
      const [set, inserted] = [freshKey(), freshKey()]
      await Promise.all([
        watch(context, driver, exactly(set, 'an item that was set with a ttl of 1 s', 1), () =>
          driver.set(set, recordOf(1), 1),
        ),
        watch(context, driver, exactly(inserted, 'an item that was inserted with a ttl of 2 s', 2), () =>
          driver.insert(inserted, recordOf(1), 2),
        ),
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
      const [shorter, longer, inserted] = [freshKey(), freshKey(), freshKey()]
      await driver.set(shorter, recordOf('earlier'), 3600)
      await driver.set(longer, recordOf('earlier'), 1)
      await driver.insert(inserted, recordOf('earlier'), 1)
      for (const key of [longer, inserted]) await driver.set(key, recordOf('later'), 3600)
      await watch(context, driver, exactly(shorter, 'an item that was set again with a ttl of 1 s', 1), () =>
        driver.set(shorter, recordOf('later'), 1),
      )
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
      // Again with a longer ttl if the item has expired before the second insert, on a machine that is busy.
      for (let [ttl, expired] = [1, true]; expired && ttl < 60; ttl *= 2) {
        const short = freshKey()
        const what = `an item with a ttl of ${ttl} s after a refused insert`
        await watch(context, driver, exactly(short, what, ttl), async () => {
          await driver.insert(short, recordOf('first'), ttl)
          expired = await driver.insert(short, recordOf('refused'), 3600)
          if (expired) await driver.remove(short)
        })
      }
      await sleep(1000)
      if (!isSameValue(await driver.get(long), recordOf('first'))) {
        context.fail('an insertItem() that returned false shortened the life of the existing item')
      }
    },
  },
]
