import { freshKey, recordOf } from './keys.ts'
import { giveWay, sleep } from './moments.ts'
import type { Operations } from './operations.ts'
import type { Proof } from './proof.ts'
import { isSame, shown } from './same-value.ts'

const keysAtOnce = 20
/** So many are under way for one key at a time. */
const racersOfAKey = 12
/** Seconds. */
const ttl = 1
/** Milliseconds for which they race on after the end of the item when nobody has won. */
const patience = 1500

interface Win {
  readonly racer: number
  /** Milliseconds since the item was written. */
  readonly at: number
}

/**
 * Racers that set out one after the other, from before the end of an item until somebody has won. All at once would do the same thing in
 * the same tick, the first of them always first: measured, a driver that replaces in two steps passes that on a busy machine.
 */
async function raceForOne(driver: Operations): Promise<{ readonly key: string; readonly wins: readonly Win[] }> {
  const key = freshKey('spent:code')
  const begun = performance.now()
  await driver.set(key, recordOf('expiring'), ttl)
  await sleep(ttl * 1000 - 150)
  const wins: Win[] = []
  const isOver = (): boolean => {
    const at = performance.now() - begun
    return at > ttl * 1000 + patience || wins.some((win) => at - win.at > 150)
  }
  let racer = 0
  let failure: unknown
  const underWay = new Set<Promise<void>>()
  async function run(): Promise<void> {
    racer += 1
    const number = racer
    if (await driver.insert(key, recordOf(number))) wins.push({ racer: number, at: performance.now() - begun })
  }
  while (!isOver() && failure === undefined) {
    const begins = performance.now()
    if (underWay.size < racersOfAKey) {
      const running = run()
        .catch((error) => {
          failure ??= error
        })
        .finally(() => underWay.delete(running))
      underWay.add(running)
    }
    await giveWay(begins)
  }
  await Promise.all(underWay)
  // A store that is slow is not wrong: only an insert that begins when the end is long over must be possible.
  if (wins.length === 0 && failure === undefined) await run()
  if (failure !== undefined) throw failure
  return { key, wins }
}

export const expiredInsert: readonly Proof[] = [
  {
    name: 'lets one insert over an item that has expired',
    waits: true,
    async examine(bench) {
      const driver = await bench.open()
      for (let round = 0; round < bench.rounds; round += 1) {
        const races = await Promise.all(Array.from({ length: keysAtOnce }, () => raceForOne(driver)))
        for (const { key, wins } of races) {
          if (wins.length !== 1) {
            bench.broken(
              `of all that insert over one expired item exactly 1 should get the answer true, and ${wins.length} did`,
            )
            continue
          }
          const [{ racer, at }] = wins as [Win]
          if (at < ttl * 1000 - 100) bench.broken('insertItem() has answered true before the end of the item')
          const found = await driver.get(key)
          if (!isSame(found, recordOf(racer))) {
            bench.broken(`the value over an expired item should be that of the one insert, and is ${shown(found)}`)
          }
        }
      }
    },
  },
]
