import { performTogether, withProcesses } from './between-processes.ts'
import { earlyBy, lastPart, late, longestLife } from './expiry.ts'
import { hostileKeys } from './hostile-keys.ts'
import type { Operations } from './operations.ts'
import type { Call } from './processes.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { abbreviate, freshKey } from './sample-records.ts'
import { randomDelay, recoveryTimeout, sleep, timedOut, untilRecovered, withTimeout } from './timing.ts'

const concurrentKeys = 5
const callsOfAKey = 40
const callsOfAProcess = 60
const callsUntilKilled = 400
/** Seconds to wait for a result. */
const responseTimeout = 2

/** Checks that the counts are 1 to n, each exactly once, in any order. */
function assertExact(context: ProofContext, counts: readonly number[], who: string): void {
  const distinct = new Set(counts).size
  const greatest = Math.max(...counts)
  if (distinct === counts.length && greatest === counts.length) return
  context.fail(
    `${counts.length} calls of incrementItem() with one key ${who} should return 1 to ${counts.length}, each once, but returned ${distinct} different numbers up to ${greatest}`,
  )
}

async function race(context: ProofContext, drivers: readonly Operations[], delay: () => Promise<void>): Promise<void> {
  const keys = Array.from({ length: concurrentKeys }, () => freshKey('count'))
  const counts = await Promise.all(
    keys.map((key) =>
      Promise.all(
        Array.from({ length: callsOfAKey }, async (_, call) => {
          await delay()
          const count = await (drivers[call % drivers.length] as Operations).increment(key)
          await delay()
          return count
        }),
      ),
    ),
  )
  for (const each of counts) assertExact(context, each, 'at the same time')
}

const noDelay: () => Promise<void> = async () => {}

async function proveBetweenProcesses(context: ProofContext): Promise<void> {
  const driver = await context.open()
  const [raced, interrupted] = [freshKey('count'), freshKey('count')]
  context.trackKeys([raced, interrupted])
  const calls = (key: string, count: number): readonly Call[] =>
    Array.from({ length: count }, (): Call => ['incrementItem', key, { ttl: 3600 }])
  await withProcesses(context, async (children) => {
    const outcomes = (await performTogether(children, () => calls(raced, callsOfAProcess))).flat()
    const failed = outcomes.find(({ error }) => error !== undefined)
    if (failed !== undefined) context.fail(`incrementItem() failed in another process: ${failed.error}`)
    else
      assertExact(
        context,
        outcomes.map(({ value }) => Number(value)),
        `by ${children.length} processes`,
      )

    // The calls never complete: the process is killed meanwhile.
    const [child] = children
    let ended = false
    const dying = child?.perform(calls(interrupted, callsUntilKilled), { serial: true }).catch(() => undefined)
    void dying?.then(() => {
      ended = true
    })
    // Until the count shows that the process has counted too.
    for (let expected = 1; !ended && (await driver.increment(interrupted)) === expected; expected += 1) await sleep(1)
    await child?.kill()
    await dying
    const count = async () => [await driver.increment(interrupted), await driver.increment(interrupted)] as const
    // Reads again, because a database can perform the last call of the process between the two.
    const [current, next] = await untilRecovered(count, ([first, second]) => second === first + 1)
    if (next !== current + 1) {
      context.fail(
        `after a process was killed during incrementItem(), ${current} should be followed by ${current + 1}, but ${next} followed`,
      )
    }
  })
}

/**
 * Later calls with a longer ttl must not extend the counter. Resolves to whether the counter was seen in the last part of
 * its life: on a busy machine it must live longer.
 */
async function watchEnd(context: ProofContext, { increment }: Operations, ttl: number): Promise<boolean> {
  const key = freshKey('count')
  const startedAt = performance.now()
  await increment(key, ttl)
  const created = performance.now()
  let last = 1
  let lastSeen = startedAt
  for (;;) {
    const checkedAt = performance.now()
    const count = await increment(key, 3600)
    const lived = performance.now() - startedAt
    if (count === 1 && lived < ttl * 1000 - earlyBy) {
      context.fail(
        `a counter with a ttl of ${ttl} s should live for ${ttl} s, but restarted after ${(lived / 1000).toFixed(2)} s`,
      )
      return true
    }
    if (count === 1) return lastSeen - startedAt >= ttl * 1000 * (1 - lastPart)
    if (count !== last + 1) {
      context.fail(`incrementItem() should return ${last + 1} after ${last}, but returned ${count}`)
      return true
    }
    last = count
    lastSeen = checkedAt
    if (checkedAt - created > ttl * 1000 + late) {
      context.fail(
        `a counter with a ttl of ${ttl} s should restart after ${ttl} s, even when it is incremented constantly`,
      )
      return true
    }
    await sleep(40)
  }
}

async function proveEnd(context: ProofContext): Promise<void> {
  const driver = await context.open()
  for (let ttl = 2; ttl <= longestLife && !(await watchEnd(context, driver, ttl)); ) ttl *= 2
}

async function proveKeys(context: ProofContext): Promise<void> {
  const { increment } = await context.open()
  const keys = hostileKeys(freshKey('count').slice(0, 24))
  await Promise.all(
    keys.map(async (key) => {
      const outcome = await context.attempt(() => increment(key))
      if (outcome === undefined || outcome.value === 1) return
      context.fail(
        `incrementItem(${abbreviate(key)}) should return 1 or reject, since only similar keys were incremented, but returned ${outcome.value}`,
      )
    }),
  )
}

async function proveOutage(context: ProofContext): Promise<void> {
  const driver = await context.open()
  const { outage } = context.subject
  if (outage === undefined) throw new TypeError('outage must be given')
  const key = freshKey('count')
  const before = await driver.increment(key)
  await outage.begin()
  try {
    // A counter need not be durable, so a driver may keep counting while only durable storage is unavailable. The core
    // times out calls that hang.
    const incremented = Promise.resolve(driver.driver.incrementItem(key, { ttl: 3600 })).catch(() => timedOut)
    const result: unknown = await withTimeout(incremented, responseTimeout)
    if (result !== timedOut && result !== before + 1) {
      context.fail(
        `during an outage incrementItem() should reject or return ${before + 1}, but returned ${abbreviate(result)}`,
      )
    }
  } finally {
    await outage.end()
  }
  const outcome = await untilRecovered(
    () => context.attempt(() => driver.increment(key)),
    (result) => result !== undefined,
  )
  if (outcome === undefined) {
    context.fail(`after an outage incrementItem() should work again within ${recoveryTimeout} s`)
  } else if (outcome.value <= before && outcome.value !== 1) {
    context.fail(
      `after an outage a counter should continue from ${before} or restart at 1, but returned ${outcome.value}`,
    )
  }
}

export const counterProofs: readonly Proof[] = [
  {
    name: 'counts from 1 without gaps or duplicates under concurrent calls',
    async run(context) {
      const driver = await context.open()
      const key = freshKey('count')
      const counts = [await driver.increment(key), await driver.increment(key), await driver.increment(key)]
      if (counts.join() !== '1,2,3')
        context.fail(`three calls of incrementItem() should return 1, 2, 3, but returned ${counts.join(', ')}`)
      await driver.driver.removeItem(key, {})
      const next = await driver.increment(key)
      if (next !== 1) context.fail(`after removeItem(), incrementItem() should return 1, but returned ${next}`)
      for (let round = 0; round < context.rounds; round += 1) {
        await race(context, [driver], noDelay)
        await race(context, [driver], randomDelay)
      }
    },
  },
  {
    name: 'counts each call once through two drivers of one process',
    async run(context) {
      const driver = await context.open()
      const second = await context.open()
      const key = freshKey('count')
      await driver.increment(key)
      if ((await second.increment(key)) === 1) {
        context.skip('two drivers from open() do not share a storage')
        return
      }
      await race(context, [driver, second], noDelay)
      await race(context, [driver, second], randomDelay)
    },
  },
  { name: 'expires a counter after the ttl of its creation', waits: true, run: proveEnd },
  { name: 'counts every hostile key separately or rejects it', run: proveKeys },
  {
    name: 'counts each call of several processes once, even if one is killed',
    needs: 'module',
    run: proveBetweenProcesses,
  },
  {
    name: 'counts correctly or rejects during a real outage, and counts again after it',
    needs: 'outage',
    run: proveOutage,
  },
]
