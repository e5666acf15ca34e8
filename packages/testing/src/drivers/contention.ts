import type { Operations } from './operations.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { racesOf } from './races.ts'
import { abbreviate, freshKey, isSameValue, recordOf } from './sample-records.ts'

const concurrentKeys = 6
const insertsPerKey = 50

/** Races inserts for several keys in random order. Per key, exactly one must win, and its value must be stored. */
async function race(context: ProofContext, drivers: readonly Operations[], moment: () => Promise<void>): Promise<void> {
  const keys = Array.from({ length: concurrentKeys }, () => freshKey('spent:code'))
  const racers = Array.from({ length: insertsPerKey }, (_, racer) => racer)
  const attempts = keys.flatMap((key) => racers.map((racer) => ({ key, racer, at: Math.random() })))
  attempts.sort((left, right) => left.at - right.at)
  const results = await Promise.all(
    attempts.map(async ({ key, racer }) => {
      const driver = drivers[racer % drivers.length] as Operations
      await moment()
      const created = await driver.insert(key, recordOf(racer))
      await moment()
      return { key, racer, created }
    }),
  )
  for (const key of keys) {
    const winners = results.filter((result) => result.key === key && result.created)
    if (winners.length !== 1) {
      context.fail(
        `of ${insertsPerKey} concurrent calls of insertItem() with one key, exactly 1 should return true, but ${winners.length} did`,
      )
      continue
    }
    for (const driver of drivers) {
      const stored = await driver.get(key)
      if (!isSameValue(stored, recordOf(winners[0]?.racer))) {
        context.fail(
          `the value should be that of the call whose insertItem() returned true, but is ${abbreviate(stored)}`,
        )
      }
    }
  }
}

const races = racesOf(race)

export const contention: readonly Proof[] = [
  {
    name: 'lets exactly one of many concurrent inserts win',
    async run(context) {
      await races(context, [await context.open()])
    },
  },
  {
    name: 'lets exactly one of many concurrent inserts win through two drivers of one process',
    async run(context) {
      const [first, second] = [await context.open(), await context.open()]
      const key = freshKey()
      await first.set(key, recordOf('shared'))
      if ((await second.get(key)) === undefined) {
        context.skip('two drivers from open() do not share a storage')
        return
      }
      await races(context, [first, second])
    },
  },
]
