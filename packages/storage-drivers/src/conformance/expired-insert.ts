import { freshKey, recordOf } from './keys.ts'
import { giveWay, sleep } from './moments.ts'
import type { Operations } from './operations.ts'
import type { Proof } from './proof.ts'
import { isSame, shown } from './same-value.ts'

const keysAtOnce = 20
const racersOfAKey = 12
/** Seconds. */
const ttl = 1
/** Milliseconds for which all race on after the end of the item when nobody has won. */
const patience = 1500

interface Win {
  readonly racer: number | 'last'
  /** Milliseconds since the first item was written. */
  readonly at: number
}

/** Racers that try again and again from before the end of an item until somebody has won: the moment of the end itself is in it. */
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
  await Promise.all(
    Array.from({ length: racersOfAKey }, async (_, racer) => {
      while (!isOver()) {
        const asked = performance.now()
        if (await driver.insert(key, recordOf(racer))) wins.push({ racer, at: performance.now() - begun })
        await giveWay(asked)
      }
    }),
  )
  // A store that is slow is not wrong: only an insert that begins when the end is long over must be possible.
  if (wins.length === 0 && (await driver.insert(key, recordOf('last')))) {
    wins.push({ racer: 'last', at: performance.now() - begun })
  }
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
              `of ${racersOfAKey} that insert over an expired item exactly 1 should get the answer true, and ${wins.length} did`,
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
