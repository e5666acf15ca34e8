import type { Bench } from './bench.ts'
import { freshKey, recordOf } from './keys.ts'
import { anyMoment } from './moments.ts'
import type { Operations } from './operations.ts'
import type { Proof } from './proof.ts'
import { isSame, shown } from './same-value.ts'

const keysAtOnce = 6
const racersOfAKey = 50

/** Races inserts for several keys in random order. Per key, exactly one must win, and its value must be stored. */
async function race(bench: Bench, drivers: readonly Operations[], moment: () => Promise<void>): Promise<void> {
  const keys = Array.from({ length: keysAtOnce }, () => freshKey('spent:code'))
  const racers = Array.from({ length: racersOfAKey }, (_, racer) => racer)
  const attempts = keys.flatMap((key) => racers.map((racer) => ({ key, racer, at: Math.random() })))
  attempts.sort((one, other) => one.at - other.at)
  const answers = await Promise.all(
    attempts.map(async ({ key, racer }) => {
      const driver = drivers[racer % drivers.length] as Operations
      await moment()
      const created = await driver.insert(key, recordOf(racer))
      await moment()
      return { key, racer, created }
    }),
  )
  for (const key of keys) {
    const winners = answers.filter((answer) => answer.key === key && answer.created)
    if (winners.length !== 1) {
      bench.broken(
        `of ${racersOfAKey} concurrent calls of insertItem() with one key, exactly 1 should return true, but ${winners.length} did`,
      )
      continue
    }
    for (const driver of drivers) {
      const found = await driver.get(key)
      if (!isSame(found, recordOf(winners[0]?.racer))) {
        bench.broken(`the value should be that of the call whose insertItem() returned true, but is ${shown(found)}`)
      }
    }
  }
}

// Without delays and with random delays (as over a network): each finds different faults.
async function races(bench: Bench, drivers: readonly Operations[]): Promise<void> {
  for (let round = 0; round < bench.rounds; round += 1) {
    await race(bench, drivers, async () => {})
    await race(bench, drivers, anyMoment)
  }
}

export const contention: readonly Proof[] = [
  {
    name: 'lets exactly one of many concurrent inserts win',
    async examine(bench) {
      await races(bench, [await bench.open()])
    },
  },
  {
    name: 'lets exactly one of many concurrent inserts win through two drivers of one process',
    async examine(bench) {
      const [one, other] = [await bench.open(), await bench.open()]
      const key = freshKey()
      await one.set(key, recordOf('shared'))
      if ((await other.get(key)) === undefined) {
        bench.leaveOut('two drivers from open() do not share a storage')
        return
      }
      await races(bench, [one, other])
    },
  },
]
