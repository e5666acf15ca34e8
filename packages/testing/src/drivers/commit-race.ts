import type { DriverChanges } from '@grantry/core'
import { expectItems, itemOf, openCommitting } from './commits.ts'
import type { Operations } from './operations.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { racesOf } from './races.ts'
import { freshKey, isSameValue, recordOf } from './sample-records.ts'

/** A commit that competes with others for the keys that it creates. */
export interface Contender {
  readonly value: string
  readonly changes: DriverChanges
  /** A key that only this contender writes. */
  readonly ownKey: string
  /** An item that exists before the race, and that only this contender removes. */
  readonly removed: string
}

export const sharedKeys = (count: number): readonly string[] =>
  Array.from({ length: count }, () => freshKey('spent:refresh'))

/** Creates contenders that each create two or three random shared keys, and prepares the items that they remove. */
export async function newContenders(driver: Operations, shared: readonly string[], count: number) {
  const contenders = Array.from({ length: count }, (_, index): Contender => {
    const value = `contender ${index}`
    const [ownKey, removed] = [freshKey('access'), freshKey()]
    const size = 2 + Math.floor(Math.random() * 2)
    const chosen = [...shared]
      .map((key) => ({ key, at: Math.random() }))
      .sort((left, right) => left.at - right.at)
      .slice(0, size)
    const create = chosen.map(({ key }) => itemOf(key, value))
    return { value, ownKey, removed, changes: { create, put: [itemOf(ownKey, value)], remove: [removed] } }
  })
  await Promise.all(contenders.map(({ removed }) => driver.set(removed, recordOf('earlier'))))
  return contenders
}

/** Checks that every commit was performed completely or not at all, and that no two have created one item. */
export async function judge(
  context: ProofContext,
  driver: Operations,
  results: readonly { readonly contender: Contender; readonly outcome: unknown }[],
): Promise<void> {
  const winners = results.filter(({ outcome }) => outcome === true)
  const creators = new Map<string, number>()
  for (const { contender } of winners) {
    for (const { key } of contender.changes.create) creators.set(key, (creators.get(key) ?? 0) + 1)
  }
  const most = Math.max(0, ...creators.values())
  if (most > 1)
    context.fail(`of concurrent calls of commit() with one key, at most 1 should return true, but ${most} did`)
  if (winners.length === 0) context.fail('of concurrent calls of commit(), at least 1 should return true, but none did')
  for (const { contender, outcome } of results) {
    const { value, changes, ownKey, removed } = contender
    const hasWon = outcome === true
    await expectItems(context, driver, `after a commit() that returned ${hasWon ? 'true' : 'keys'}`, [
      ...(hasWon && most === 1
        ? changes.create.map(({ key }) => [key, 'a created item', recordOf(value)] as const)
        : []),
      [ownKey, 'the item in put', hasWon ? recordOf(value) : undefined],
      [removed, 'the item in remove', hasWon ? undefined : recordOf('earlier')],
    ])
    if (hasWon) continue
    const existing: readonly unknown[] = Array.isArray(outcome) ? outcome : []
    const isRight = existing.length > 0 && existing.every((key) => creators.has(String(key)))
    if (!isRight) context.fail('a refused commit() should return keys that another call has created, but did not')
  }
  // Nothing but the winners' items.
  const keys = new Set(results.flatMap(({ contender }) => contender.changes.create.map(({ key }) => key)))
  for (const key of keys) {
    const stored = await driver.get(key)
    if (creators.has(key) || stored === undefined) continue
    const [writer] = results.filter(({ contender }) => isSameValue(stored, recordOf(contender.value)))
    context.fail(
      `a commit() that did not return true has created an item: ${writer?.contender.value ?? 'another value'}`,
    )
  }
}

const contenders = 40

async function race(context: ProofContext, drivers: readonly Operations[], moment: () => Promise<void>): Promise<void> {
  const [first] = drivers
  if (first === undefined) throw new TypeError('no driver')
  const all = await newContenders(first, sharedKeys(12), contenders)
  const results = await Promise.all(
    all.map(async (contender, index) => {
      const driver = drivers[index % drivers.length] as Operations
      await moment()
      return { contender, outcome: await driver.commit(contender.changes) }
    }),
  )
  for (const driver of drivers) await judge(context, driver, results)
}

const races = racesOf(race)

export const commitRaces: readonly Proof[] = [
  {
    name: 'performs each of many concurrent commits completely or not at all',
    async run(context) {
      const driver = await openCommitting(context)
      if (driver !== undefined) await races(context, [driver])
    },
  },
  {
    name: 'performs each of many concurrent commits completely or not at all through two drivers of one process',
    async run(context) {
      const first = await openCommitting(context)
      if (first === undefined) return
      const second = await context.open()
      const key = freshKey()
      await first.set(key, recordOf('shared'))
      if ((await second.get(key)) === undefined) context.skip('two drivers from open() do not share a storage')
      else await races(context, [first, second])
    },
  },
]
