import { performTogether, withProcesses } from './between-processes.ts'
import type { Operations } from './operations.ts'
import type { Outcome } from './processes.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { abbreviate, freshKey, isSameValue, recordOf } from './records.ts'
import { randomDelay } from './timing.ts'

const noEntries =
  'the driver has no replaceItem() and listKeys(): it cannot keep the entries that administrators change'

/** Opens a driver. Returns `undefined`, and skips the proof, if it cannot keep entries. */
async function openForEntries(context: ProofContext): Promise<Operations | undefined> {
  const driver = await context.open()
  const { replaceItem, listKeys } = driver.driver
  if (replaceItem !== undefined && listKeys !== undefined) return driver
  context.skip(noEntries)
  return undefined
}

/** Returns the start of the keys of unused entries. */
const freshBase = (): string => `${freshKey('entry:client').slice(0, 32)}:`

async function proveReplace(context: ProofContext, driver: Operations): Promise<void> {
  const key = `${freshBase()}web`
  const [one, two, three] = [recordOf('one "\\\' %'), recordOf('two'), recordOf('three')]
  const expectReplaced = async (what: string, isExpected: boolean, from: string, to: string): Promise<void> => {
    if ((await driver.replace(key, from, to)) !== isExpected)
      context.fail(`replaceItem() ${what} should return ${isExpected}`)
  }
  await expectReplaced('of an absent item', false, one, two)
  if ((await driver.get(key)) !== undefined) context.fail('replaceItem() of an absent item should not create it')
  await driver.insert(key, one)
  await expectReplaced('with the value of the item', true, one, two)
  await expectReplaced('with an earlier value of the item', false, one, three)
  await expectReplaced('with the start of the value', false, two.slice(0, -1), three)
  const found = await driver.get(key)
  if (!isSameValue(found, two))
    context.fail(`the value should be the one that replaced it, but is ${abbreviate(found)}`)
  await expectReplaced('with the new value', true, two, one)
  await driver.remove(key)
  await expectReplaced('of a removed item', false, one, three)
}

const concurrentKeys = 6
const replacementsPerKey = 30

/** Races replacements of several items. Per item, exactly one must win, and its value must be stored. */
async function race(context: ProofContext, drivers: readonly Operations[], moment: () => Promise<void>): Promise<void> {
  const [first] = drivers as [Operations]
  const base = freshBase()
  const keys = Array.from({ length: concurrentKeys }, (_, index) => `${base}${index}`)
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
    const found = await first.get(key)
    if (!isSameValue(found, recordOf(winners[0]?.racer)))
      context.fail(`the value should be that of the call that returned true, but is ${abbreviate(found)}`)
  }
}

async function races(context: ProofContext, drivers: readonly Operations[]): Promise<void> {
  for (let round = 0; round < context.rounds; round += 1) {
    await race(context, drivers, async () => {})
    await race(context, drivers, randomDelay)
  }
}

/** Each process adds its own number to a list in one item until all have been added: none may be lost. */
async function raceOfProcesses(context: ProofContext, driver: Operations): Promise<void> {
  await withProcesses(context, async (children) => {
    const key = `${freshBase()}web`
    context.trackKeys([key])
    const rounds = 20
    await driver.insert(key, recordOf(0))
    for (let round = 0; round < rounds; round += 1) {
      const outcomes = await performTogether(children, (index) => [
        ['replaceItem', key, { from: recordOf(round), to: recordOf(round + 1) }],
        ['replaceItem', key, { from: recordOf(round), to: recordOf(`process ${index}`) }],
      ])
      const all: readonly Outcome[] = outcomes.flat()
      const failed = all.find(({ error }) => error !== undefined)
      if (failed !== undefined) return context.fail(`replaceItem() failed in another process: ${failed.error}`)
      const winners = all.filter(({ value }) => value === true).length
      if (winners !== 1)
        return context.fail(
          `of ${all.length} replacements by several processes, exactly 1 should win, but ${winners} did`,
        )
      const found = await driver.get(key)
      if (found === undefined) return context.fail('an item that several processes replace should exist, but is absent')
      if (isSameValue(found, recordOf(round + 1))) continue
      await driver.replace(key, typeof found === 'string' ? found : JSON.stringify(found), recordOf(round + 1))
    }
  })
}

/** Characters of ids, in their order. Several storages would order or fold them in another way. */
const orderedIds = [
  '%20a',
  '-',
  '-a',
  '.',
  '0',
  '10',
  '9',
  'A',
  'Aa',
  'B',
  '_',
  'a',
  'a-b',
  'a.b',
  'aa',
  'b',
  'z~',
  '~',
]

async function listAll(driver: Operations, base: string, limit: number): Promise<readonly string[]> {
  const keys: string[] = []
  for (;;) {
    const page = await driver.listKeys(base, { after: keys.at(-1) ?? '', limit })
    keys.push(...page)
    if (page.length < limit || keys.length > 1000) return keys
  }
}

async function proveList(context: ProofContext, driver: Operations): Promise<void> {
  const base = freshBase()
  await Promise.all([...orderedIds].reverse().map((id) => driver.insert(base + id, recordOf(id))))
  await driver.insert(`${freshBase()}other`, recordOf('other'))
  await driver.set(freshKey(), recordOf('no entry'))
  for (const limit of [1, 5, 100]) {
    const found = (await listAll(driver, base, limit)).map((key) => key.slice(base.length))
    if (found.join(' ') === orderedIds.join(' ')) continue
    context.fail(`pages of ${limit} keys should be "${orderedIds.join(' ')}", but are "${found.join(' ')}"`)
  }
  const below = (await listAll(driver, `${base}a`, 2)).map((key) => key.slice(base.length))
  const expected = orderedIds.filter((id) => id.startsWith('a'))
  if (below.join(' ') !== expected.join(' '))
    context.fail(`the keys that start with "a" should be "${expected.join(' ')}", but are "${below.join(' ')}"`)
  const after = await driver.listKeys(`${base}a`, { after: `${base}a`, limit: 2 })
  if (after.join(' ') !== `${base}a-b ${base}a.b`)
    context.fail('listKeys() should return the keys that start with base and come after another one')
}

/** Keys that exist the whole time must be listed once, whatever is added and removed between two pages. */
async function proveChangingList(context: ProofContext, driver: Operations): Promise<void> {
  const base = freshBase()
  const kept = Array.from({ length: 60 }, (_, index) => `${base}${String(index).padStart(3, '0')}`)
  // In front of those that are listed already, between them, and behind all of them.
  const passing = [`${base}-1`, `${base}-2`, `${base}-3`, `${base}020-1`, `${base}~`]
  await Promise.all(kept.map((key) => driver.insert(key, recordOf('kept'))))
  for (const isFirst of [true, false]) {
    const found: string[] = []
    for (let page: readonly string[] = [], adds = isFirst; found.length === 0 || page.length > 0; adds = !adds) {
      page = await driver.listKeys(base, { after: found.at(-1) ?? '', limit: 7 })
      found.push(...page)
      await Promise.all(passing.map((key) => (adds ? driver.insert(key, recordOf('passing')) : driver.remove(key))))
      if (found.length > 200) break
    }
    const missing = kept.filter((key) => !found.includes(key))
    if (missing.length > 0)
      context.fail(`${missing.length} of ${kept.length} keys were in no page while others changed`)
    if (new Set(found).size < found.length) context.fail('a key was in two pages of one list')
  }
}

const proofOf = (
  name: string,
  prove: (context: ProofContext, driver: Operations) => Promise<void>,
  more: Partial<Proof> = {},
): Proof => ({
  name,
  ...more,
  async run(context) {
    const driver = await openForEntries(context)
    if (driver !== undefined) await prove(context, driver)
  },
})

export const entryProofs: readonly Proof[] = [
  proofOf('replaces an item only if it has the expected value', proveReplace),
  proofOf('lets exactly one of many concurrent replacements win', async (context, driver) => {
    await races(context, [driver])
  }),
  proofOf('lets exactly one of many concurrent replacements win through two drivers', async (context, driver) => {
    const other = await context.open()
    const key = freshKey()
    await driver.set(key, recordOf('shared'))
    if ((await other.get(key)) === undefined) context.skip('two drivers from open() do not share a storage')
    else await races(context, [driver, other])
  }),
  proofOf('lets exactly one of several processes replace an item', raceOfProcesses, { needs: 'module' }),
  proofOf('lists the keys of entries in pages, in the order of their characters', proveList),
  proofOf('lists every key that exists while others are added and removed', proveChangingList),
]
