import type { Operations } from './operations.ts'
import type { Proof } from './proof-context.ts'
import { abbreviate, freshKey, isSameValue, recordOf } from './sample-records.ts'
import { sleep, yieldToOthers } from './timing.ts'

const concurrentKeys = 20
/** Number of inserts in flight per key. */
const insertsPerKey = 12
/** Seconds. */
const ttl = 1
/** Milliseconds to keep racing after the item has expired when no insert has won. */
const timeLimit = 1500

interface Win {
  readonly racer: number
  /** Milliseconds since the item was written. */
  readonly at: number
}

/**
 * Starts inserts one after another, from before the item expires until one wins. Started together, they would run in
 * the same order in the same tick and the first would always win: measured, a driver that replaces in two steps passes
 * that on a busy machine.
 */
async function raceInserts(driver: Operations): Promise<{ readonly key: string; readonly wins: readonly Win[] }> {
  const key = freshKey('spent:code')
  const startedAt = performance.now()
  await driver.set(key, recordOf('expiring'), ttl)
  const written = performance.now() - startedAt
  await sleep(ttl * 1000 - 150)
  const wins: Win[] = []
  /** Inserts that began when the item had certainly expired: on a busy machine, the time limit can pass without them. */
  let late = 0
  const isFinished = (): boolean => {
    const at = performance.now() - startedAt
    return (at > written + ttl * 1000 + timeLimit && late >= 2) || wins.some((win) => at - win.at > 150)
  }
  let racer = 0
  let failure: unknown
  const inFlight = new Set<Promise<void>>()
  async function run(): Promise<void> {
    racer += 1
    const number = racer
    if (await driver.insert(key, recordOf(number))) wins.push({ racer: number, at: performance.now() - startedAt })
  }
  while (!isFinished() && failure === undefined) {
    const turnStartedAt = performance.now()
    if (inFlight.size < insertsPerKey) {
      if (turnStartedAt - startedAt > written + ttl * 1000) late += 1
      const running = run()
        .catch((error) => {
          failure ??= error
        })
        .finally(() => inFlight.delete(running))
      inFlight.add(running)
    }
    await yieldToOthers(turnStartedAt)
  }
  await Promise.all(inFlight)
  // A slow store is not broken: only an insert that starts long after the expiry must succeed.
  if (wins.length === 0 && failure === undefined) await run()
  if (failure !== undefined) throw failure
  return { key, wins }
}

export const expiredInsert: readonly Proof[] = [
  {
    name: 'lets exactly one insert replace an expired item',
    waits: true,
    async run(context) {
      const driver = await context.open()
      for (let round = 0; round < context.rounds; round += 1) {
        const races = await Promise.all(Array.from({ length: concurrentKeys }, () => raceInserts(driver)))
        for (const { key, wins } of races) {
          if (wins.length !== 1) {
            context.fail(
              `of all calls of insertItem() over one expired item, exactly 1 should return true, but ${wins.length} did`,
            )
            continue
          }
          const [{ racer, at }] = wins as [Win]
          if (at < ttl * 1000 - 100) context.fail('insertItem() returned true before the item expired')
          const stored = await driver.get(key)
          if (!isSameValue(stored, recordOf(racer))) {
            context.fail(
              `the value should be that of the insert that replaced the expired item, but is ${abbreviate(stored)}`,
            )
          }
        }
      }
    },
  },
]
