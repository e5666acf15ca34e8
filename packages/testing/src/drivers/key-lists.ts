import type { Operations } from './operations.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { freshKey, recordOf } from './sample-records.ts'

const noEntries = 'the driver has no listKeys(): it cannot keep the entries that administrators change'

/** Returns the start of the keys of unused entries. */
const freshBase = (): string => `${freshKey('entry:client').slice(0, 32)}:`

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
    const listed = (await listAll(driver, base, limit)).map((key) => key.slice(base.length))
    if (listed.join(' ') === orderedIds.join(' ')) continue
    context.fail(`pages of ${limit} keys should be "${orderedIds.join(' ')}", but are "${listed.join(' ')}"`)
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
    const listed: string[] = []
    for (let page: readonly string[] = [], adds = isFirst; listed.length === 0 || page.length > 0; adds = !adds) {
      page = await driver.listKeys(base, { after: listed.at(-1) ?? '', limit: 7 })
      listed.push(...page)
      await Promise.all(passing.map((key) => (adds ? driver.insert(key, recordOf('passing')) : driver.remove(key))))
      if (listed.length > 200) break
    }
    const missing = kept.filter((key) => !listed.includes(key))
    if (missing.length > 0)
      context.fail(`${missing.length} of ${kept.length} keys were in no page while others changed`)
    if (new Set(listed).size < listed.length) context.fail('a key was in two pages of one list')
  }
}

const proofOf = (name: string, prove: (context: ProofContext, driver: Operations) => Promise<void>): Proof => ({
  name,
  async run(context) {
    const driver = await context.open()
    if (driver.driver.listKeys === undefined) context.skip(noEntries)
    else await prove(context, driver)
  },
})

export const keyListProofs: readonly Proof[] = [
  proofOf('lists the keys of entries in pages, in the order of their characters', proveList),
  proofOf('lists every key that exists while others are added and removed', proveChangingList),
]
