import type { Bench } from './bench.ts'
import { withProcesses } from './between-processes.ts'
import { hostileKeys } from './hostile-keys.ts'
import { freshKey } from './keys.ts'
import { anyMoment, sleep, tooLate, within } from './moments.ts'
import type { Operations } from './operations.ts'
import type { Call } from './processes.ts'
import type { Proof } from './proof.ts'
import { shown } from './same-value.ts'

const keysAtOnce = 5
const callsOfAKey = 40
const callsOfAProcess = 60
const callsUntilKilled = 400
/** Milliseconds that give all processes time to receive their calls. */
const notice = 300
/** Milliseconds by which a counter may expire early or late: clocks differ, and a store may use whole seconds. */
const early = 100
const late = 1500
/** Seconds to wait for a result. */
const patience = 2

const noCounter = 'the driver has no incrementItem(), so abuseControl cannot count with it'

/** Wraps a proof for drivers with a counter; leaves it out for others. */
const counting =
  (examine: (bench: Bench, driver: Operations) => Promise<void>) =>
  async (bench: Bench): Promise<void> => {
    const driver = await bench.open()
    if (driver.counts) await examine(bench, driver)
    else bench.leaveOut(noCounter)
  }

/** Checks that the counts are 1 to n, each exactly once, in any order. */
function assertExact(bench: Bench, counts: readonly number[], who: string): void {
  const distinct = new Set(counts).size
  const greatest = Math.max(...counts)
  if (distinct === counts.length && greatest === counts.length) return
  bench.broken(
    `${counts.length} calls of incrementItem() with one key ${who} should return 1 to ${counts.length}, each once, but returned ${distinct} different numbers up to ${greatest}`,
  )
}

async function race(bench: Bench, drivers: readonly Operations[], moment: () => Promise<void>): Promise<void> {
  const keys = Array.from({ length: keysAtOnce }, () => freshKey('count'))
  const counts = await Promise.all(
    keys.map((key) =>
      Promise.all(
        Array.from({ length: callsOfAKey }, async (_, call) => {
          await moment()
          const count = await (drivers[call % drivers.length] as Operations).increment(key)
          await moment()
          return count
        }),
      ),
    ),
  )
  for (const each of counts) assertExact(bench, each, 'at the same time')
}

const atOnce: () => Promise<void> = async () => {}

async function proveBetweenProcesses(bench: Bench, driver: Operations): Promise<void> {
  const [raced, interrupted] = [freshKey('count'), freshKey('count')]
  bench.own([raced, interrupted])
  const calls = (key: string, count: number): readonly Call[] =>
    Array.from({ length: count }, (): Call => ['incrementItem', key, { ttl: 3600 }])
  await withProcesses(bench, async (children) => {
    const at = Date.now() + notice
    const outcomes = (
      await Promise.all(children.map((child) => child.perform(calls(raced, callsOfAProcess), { at })))
    ).flat()
    const failed = outcomes.find(({ error }) => error !== undefined)
    if (failed !== undefined) bench.broken(`incrementItem() failed in another process: ${failed.error}`)
    else
      assertExact(
        bench,
        outcomes.map(({ value }) => Number(value)),
        `by ${children.length} processes`,
      )

    // The calls never complete: the process is killed meanwhile.
    const [child] = children
    const dying = child?.perform(calls(interrupted, callsUntilKilled), { serial: true }).catch(() => undefined)
    await sleep(20)
    await child?.kill()
    await dying
    const [one, next] = [await driver.increment(interrupted), await driver.increment(interrupted)]
    if (next !== one + 1) {
      bench.broken(
        `after a process was killed during incrementItem(), ${one} should be followed by ${one + 1}, but ${next} followed`,
      )
    }
  })
}

/** Later calls with a longer ttl must not extend the counter. */
async function proveEnd(bench: Bench, { increment }: Operations): Promise<void> {
  const key = freshKey('count')
  const begun = performance.now()
  await increment(key, 2)
  const created = performance.now()
  let last = 1
  for (;;) {
    const asked = performance.now()
    const count = await increment(key, 3600)
    const lived = performance.now() - begun
    if (count === 1) {
      if (lived < 2000 - early) {
        bench.broken(
          `a counter with a ttl of 2 s should live for 2 s, but restarted after ${(lived / 1000).toFixed(2)} s`,
        )
      }
      return
    }
    if (count !== last + 1) {
      bench.broken(`incrementItem() should return ${last + 1} after ${last}, but returned ${count}`)
      return
    }
    last = count
    if (asked - created > 2000 + late) {
      bench.broken('a counter with a ttl of 2 s should restart after 2 s, even when it is incremented constantly')
      return
    }
    await sleep(40)
  }
}

async function proveKeys(bench: Bench, { increment }: Operations): Promise<void> {
  const keys = hostileKeys(freshKey('count').slice(0, 24))
  await Promise.all(
    keys.map(async (key) => {
      const outcome = await bench.attempt(() => increment(key))
      if (outcome === undefined || outcome.answer === 1) return
      bench.broken(
        `incrementItem(${shown(key)}) should return 1 or reject, since only similar keys were incremented, but returned ${outcome.answer}`,
      )
    }),
  )
}

async function proveOutage(bench: Bench, driver: Operations): Promise<void> {
  const { outage } = bench.subject
  if (outage === undefined) throw new TypeError('outage must be given')
  const key = freshKey('count')
  const before = await driver.increment(key)
  await outage.begin()
  try {
    // A counter need not be durable, so a driver may keep counting while only durable storage is unavailable. The core
    // times out calls that hang.
    const counting = Promise.resolve(driver.driver.incrementItem?.(key, { ttl: 3600 })).catch(() => tooLate)
    const answer: unknown = await within(counting, patience)
    if (answer !== tooLate && answer !== before + 1) {
      bench.broken(
        `during an outage incrementItem() should reject or return ${before + 1}, but returned ${shown(answer)}`,
      )
    }
  } finally {
    await outage.end()
  }
  const end = performance.now() + 15_000
  for (;;) {
    const outcome = await bench.attempt(() => driver.increment(key))
    if (outcome !== undefined) {
      if (outcome.answer <= before && outcome.answer !== 1) {
        bench.broken(
          `after an outage a counter should continue from ${before} or restart at 1, but returned ${outcome.answer}`,
        )
      }
      return
    }
    if (performance.now() > end) {
      bench.broken('after an outage incrementItem() should work again within 15 s')
      return
    }
    await sleep(100)
  }
}

export const counterProofs: readonly Proof[] = [
  {
    name: 'counts from 1 without gaps or duplicates under concurrent calls',
    examine: counting(async (bench, driver) => {
      const key = freshKey('count')
      const counts = [await driver.increment(key), await driver.increment(key), await driver.increment(key)]
      if (counts.join() !== '1,2,3')
        bench.broken(`three calls of incrementItem() should return 1, 2, 3, but returned ${counts.join(', ')}`)
      for (let round = 0; round < bench.rounds; round += 1) {
        await race(bench, [driver], atOnce)
        await race(bench, [driver], anyMoment)
      }
    }),
  },
  {
    name: 'counts each call once through two drivers of one process',
    examine: counting(async (bench, driver) => {
      const other = await bench.open()
      const key = freshKey('count')
      await driver.increment(key)
      if ((await other.increment(key)) === 1) {
        bench.leaveOut('two drivers from open() do not share a storage')
        return
      }
      await race(bench, [driver, other], atOnce)
      await race(bench, [driver, other], anyMoment)
    }),
  },
  { name: 'expires a counter after the ttl of its creation', waits: true, examine: counting(proveEnd) },
  { name: 'counts every hostile key separately or rejects it', examine: counting(proveKeys) },
  {
    name: 'counts each call of several processes once, even if one is killed',
    needs: 'module',
    examine: counting(proveBetweenProcesses),
  },
  {
    name: 'counts correctly or rejects during a real outage, and counts again after it',
    needs: 'outage',
    examine: counting(proveOutage),
  },
]
