import { performTogether, withProcesses } from './between-processes.ts'
import { watchLife } from './expiry.ts'
import type { Operations } from './operations.ts'
import type { Outcome } from './processes.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { racesOf } from './races.ts'
import { abbreviate, freshKey, isSameValue, recordOf } from './sample-records.ts'
import { randomDelay } from './timing.ts'

async function proveReplace(context: ProofContext, driver: Operations): Promise<void> {
  const key = freshKey()
  const [first, second, third] = [recordOf('one "\\\' %'), recordOf('two'), recordOf('three')]
  const expectReplaced = async (what: string, isExpected: boolean, from: string, to: string): Promise<void> => {
    if ((await driver.replace(key, from, to)) !== isExpected)
      context.fail(`replaceItem() ${what} should return ${isExpected}`)
  }
  await expectReplaced('of an absent item', false, first, second)
  if ((await driver.get(key)) !== undefined) context.fail('replaceItem() of an absent item should not create it')
  await driver.insert(key, first)
  await expectReplaced('with the value of the item', true, first, second)
  await expectReplaced('with an earlier value of the item', false, first, third)
  await expectReplaced('with the start of the value', false, second.slice(0, -1), third)
  const stored = await driver.get(key)
  if (!isSameValue(stored, second))
    context.fail(`the value should be the one that replaced it, but is ${abbreviate(stored)}`)
  await expectReplaced('with the new value', true, second, first)
  await driver.remove(key)
  await expectReplaced('of a removed item', false, first, third)
}

const concurrentKeys = 6
const replacementsPerKey = 30

/** Races replacements of several items. Per item, exactly one must win, and its value must be stored. */
async function race(context: ProofContext, drivers: readonly Operations[], moment: () => Promise<void>): Promise<void> {
  const [first] = drivers as [Operations]
  const keys = Array.from({ length: concurrentKeys }, () => freshKey())
  await Promise.all(keys.map((key) => first.insert(key, recordOf('before'))))
  const attempts = keys.flatMap((key) => Array.from({ length: replacementsPerKey }, (_, racer) => ({ key, racer })))
  const results = await Promise.all(
    attempts.map(async ({ key, racer }) => {
      const driver = drivers[racer % drivers.length] as Operations
      await moment()
      return { key, racer, replaced: await driver.replace(key, recordOf('before'), recordOf(racer)) }
    }),
  )
  for (const key of keys) {
    const winners = results.filter((result) => result.key === key && result.replaced)
    if (winners.length !== 1) {
      context.fail(
        `of ${replacementsPerKey} concurrent calls of replaceItem() with one value, exactly 1 should return true, but ${winners.length} did`,
      )
      continue
    }
    const stored = await first.get(key)
    if (!isSameValue(stored, recordOf(winners[0]?.racer)))
      context.fail(`the value should be that of the call that returned true, but is ${abbreviate(stored)}`)
  }
}

const races = racesOf(race)

/** Each process adds its own number to a list in one item until all have been added: none may be lost. */
async function raceOfProcesses(context: ProofContext, driver: Operations): Promise<void> {
  await withProcesses(context, async (children) => {
    const key = freshKey()
    context.trackKeys([key])
    const rounds = 20
    await driver.insert(key, recordOf(0))
    for (let round = 0; round < rounds; round += 1) {
      const outcomes = await performTogether(children, (index) => [
        ['replaceItem', key, { from: recordOf(round), to: recordOf(round + 1), ttl: 3600 }],
        ['replaceItem', key, { from: recordOf(round), to: recordOf(`process ${index}`), ttl: 3600 }],
      ])
      const all: readonly Outcome[] = outcomes.flat()
      const failed = all.find(({ error }) => error !== undefined)
      if (failed !== undefined) return context.fail(`replaceItem() failed in another process: ${failed.error}`)
      const winners = all.filter(({ value }) => value === true).length
      if (winners !== 1)
        return context.fail(
          `of ${all.length} replacements by several processes, exactly 1 should win, but ${winners} did`,
        )
      const stored = await driver.get(key)
      if (stored === undefined)
        return context.fail('an item that several processes replace should exist, but is absent')
      if (isSameValue(stored, recordOf(round + 1))) continue
      await driver.replace(key, typeof stored === 'string' ? stored : JSON.stringify(stored), recordOf(round + 1))
    }
  })
}

/** Adds to a number in one item until the addition was applied, as the provider changes a list. */
async function addOne(driver: Operations, key: string): Promise<void> {
  for (;;) {
    const stored = await driver.get(key)
    const text = typeof stored === 'string' ? stored : JSON.stringify(stored)
    const count = (JSON.parse(text) as { count: number }).count + 1
    if (await driver.replace(key, text, JSON.stringify({ count }))) return
  }
}

const callers = 8
const changesPerCaller = 5

/** Several callers change one item: each change is applied to the result of another one, and none is lost. */
async function proveChanges(context: ProofContext, drivers: readonly Operations[]): Promise<void> {
  const key = freshKey()
  await drivers[0]?.insert(key, JSON.stringify({ count: 0 }))
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let change = 0; change < changesPerCaller; change += 1) {
        await randomDelay()
        await addOne(drivers[caller % drivers.length] as Operations, key)
      }
    }),
  )
  const stored = await drivers[0]?.get(key)
  if (!isSameValue(stored, JSON.stringify({ count: callers * changesPerCaller })))
    context.fail(`${callers * changesPerCaller} additions were applied, but the item is ${abbreviate(stored)}`)
}

/** A replaced item lives as long as the replacement says, whether it would have ended earlier or later. */
async function proveEnds(context: ProofContext, driver: Operations): Promise<void> {
  for (const [what, former] of [
    ['an item that would have ended earlier', 0.5],
    ['an item that would have ended later', 1000],
  ] as const) {
    await watchLife(context, driver, [`${what}, and was replaced,`, 2], async (key, ttl) => {
      await driver.insert(key, recordOf('one'), ttl * former)
      return driver.replace(key, recordOf('one'), recordOf('two'), ttl)
    })
  }
}

export const proofOf = (
  name: string,
  prove: (context: ProofContext, driver: Operations) => Promise<void>,
  more: Partial<Proof> = {},
): Proof => ({ name, ...more, run: async (context) => prove(context, await context.open()) })

/** Runs a proof on two drivers, if they share a storage. */
const throughTwo =
  (prove: (context: ProofContext, drivers: readonly Operations[]) => Promise<void>) =>
  async (context: ProofContext, driver: Operations): Promise<void> => {
    const second = await context.open()
    const key = freshKey()
    await driver.set(key, recordOf('shared'))
    if ((await second.get(key)) === undefined) context.skip('two drivers from open() do not share a storage')
    else await prove(context, [driver, second])
  }

export const replacementProofs: readonly Proof[] = [
  proofOf('replaces an item only if it has the expected value', proveReplace),
  proofOf('lets exactly one of many concurrent replacements win', (context, driver) => races(context, [driver])),
  proofOf('lets exactly one of many concurrent replacements win through two drivers', throughTwo(races)),
  proofOf('lets exactly one of several processes replace an item', raceOfProcesses, { needs: 'module' }),
  proofOf('applies each of several concurrent changes to the result of another', (context, driver) =>
    proveChanges(context, [driver]),
  ),
  proofOf(
    'applies each of several concurrent changes to the result of another through two drivers',
    throughTwo(proveChanges),
  ),
  proofOf('gives an item that is replaced a new end', proveEnds, { waits: true }),
]
