import { performTogether, withProcesses } from './between-processes.ts'
import type { Operations } from './operations.ts'
import type { Call } from './processes.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { proofOf } from './replacements.ts'
import { abbreviate, freshKey, isSameValue, recordOf } from './sample-records.ts'
import { randomDelay, sleep, untilRecovered } from './timing.ts'

/** Texts that a storage takes for the same one if it compares words, numbers, parsed JSON, or the first characters. */
const similar: readonly (readonly [what: string, stored: string, other: string])[] = [
  ['in another case', recordOf('Name'), recordOf('name')],
  ['with a space in its JSON', '{"a":1}', '{"a": 1}'],
  ['with members in another order', '{"a":1,"b":2}', '{"b":2,"a":1}'],
  ['with another form of a number', '{"a":10}', '{"a":1e1}'],
  ['with an escaped character', '{"a":"b"}', '{"a":"\\u0062"}'],
  ['with a space at its end', recordOf(1), `${recordOf(1)} `],
  ['with a line feed at its end', recordOf(1), `${recordOf(1)}\n`],
  ['with a byte order mark', recordOf(1), `\ufeff${recordOf(1)}`],
  ['in another Unicode form', recordOf('\u00e9'), recordOf('e\u0301')],
  ['with another accent', recordOf('e'), recordOf('\u00e9')],
  ['with a lone surrogate', recordOf('\ufffd'), recordOf('\ufffd').replace('\ufffd', '\ud800')],
  ['with U+0000 at its end', recordOf(1), `${recordOf(1)}\0`],
  ['with another last character', recordOf(`${'x'.repeat(100_000)}1`), recordOf(`${'x'.repeat(100_000)}2`)],
]

async function proveComparison(context: ProofContext, driver: Operations): Promise<void> {
  for (const [what, stored, lookalike] of similar) {
    const key = freshKey()
    const next = recordOf('next')
    await driver.insert(key, stored)
    // A value that the storage cannot have may also be an error.
    const wrong = await context.attempt(() => driver.replace(key, lookalike, next))
    if (wrong?.value === true) context.fail(`replaceItem() with the value of the item ${what} should return false`)
    else if (!isSameValue(await driver.get(key), stored))
      context.fail(`replaceItem() with the value of the item ${what} should not change it`)
    else if (!(await driver.replace(key, stored, next)))
      context.fail(`replaceItem() with the value ${abbreviate(stored)} should return true`)
    await driver.remove(key)
  }
}

const removedKeys = 10
const replacementsPerKey = 30

/** Replaces an item by the next number again and again, until another call removes it. */
async function replaceAgain(driver: Operations, key: string): Promise<void> {
  for (let number = 0; number < replacementsPerKey; number += 1) {
    if (!(await driver.replace(key, recordOf(number), recordOf(number + 1)))) return
  }
}

async function assertRemoved(context: ProofContext, driver: Operations, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const stored = await driver.get(key)
    if (stored !== undefined)
      context.fail(`an item that was removed while others replace it should be absent, but is ${abbreviate(stored)}`)
  }
}

async function proveRemoval(context: ProofContext): Promise<void> {
  const drivers = [await context.open(), await context.open()] as const
  const keys = Array.from({ length: removedKeys }, () => freshKey())
  await Promise.all(keys.map((key) => drivers[0].insert(key, recordOf(0))))
  // A driver that does not share its storage removes nothing.
  const isShared = (await drivers[1].get(keys[0] as string)) !== undefined
  await Promise.all(
    keys.flatMap((key, index) => [
      replaceAgain(drivers[0], key),
      randomDelay().then(() => drivers[isShared ? index % 2 : 0]?.remove(key)),
    ]),
  )
  await assertRemoved(context, drivers[0], keys)
}

/** One process removes the items that the others replace. */
async function proveRemovalByProcess(context: ProofContext, driver: Operations): Promise<void> {
  await withProcesses(context, async (children) => {
    const keys = Array.from({ length: removedKeys }, () => freshKey())
    context.trackKeys(keys)
    await Promise.all(keys.map((key) => driver.insert(key, recordOf(0))))
    const numbers = Array.from({ length: replacementsPerKey }, (_, number) => number)
    const replacements = numbers.flatMap((number) =>
      keys.map((key): Call => {
        return ['replaceItem', key, { from: recordOf(number), to: recordOf(number + 1), ttl: 3600 }]
      }),
    )
    const removals = keys.flatMap((key, index): Call[] => [
      ...Array.from({ length: index }, (): Call => ['getItem', key]),
      ['removeItem', key, {}],
    ])
    const outcomes = await performTogether(children, (index) => (index === 0 ? removals : replacements), {
      serial: true,
    })
    const failed = outcomes.flat().find(({ error }) => error !== undefined)
    if (failed !== undefined) context.fail(`an operation failed in another process: ${failed.error}`)
    await assertRemoved(context, driver, keys)
  })
}

async function proveExpired(context: ProofContext, driver: Operations): Promise<void> {
  const key = freshKey()
  await driver.insert(key, recordOf('one'), 1)
  await untilRecovered(
    () => driver.get(key),
    (stored) => stored === undefined,
  )
  if (await driver.replace(key, recordOf('one'), recordOf('two')))
    context.fail('replaceItem() of an item that has expired should return false')
  if ((await driver.get(key)) !== undefined)
    context.fail('replaceItem() should not bring back an item that has expired')
  if (!(await driver.insert(key, recordOf('three'))))
    context.fail('insertItem() of an item that has expired should return true, also after replaceItem()')
}

async function proveNoLife(context: ProofContext, driver: Operations): Promise<void> {
  for (const ttl of [0, -1, Number.NaN]) {
    const key = freshKey()
    await driver.insert(key, recordOf('one'))
    await context.attempt(() => driver.replace(key, recordOf('one'), recordOf('over'), ttl))
    if (isSameValue(await driver.get(key), recordOf('over')))
      context.fail(`a value that has replaced another one with a ttl of ${ttl} s must not be readable`)
  }
}

/** Replaces items when an outage begins, and during it. */
async function proveOutage(context: ProofContext, driver: Operations): Promise<void> {
  const { outage } = context.subject
  if (outage === undefined) throw new TypeError('outage must be given')
  const [before, after] = [recordOf('before'), recordOf('after')]
  const keys = Array.from({ length: 40 }, () => freshKey())
  await Promise.all(keys.map((key) => driver.insert(key, before)))
  const replace = (some: readonly string[]) =>
    some.map(async (key) => ({ key, replaced: await context.attempt(() => driver.replace(key, before, after)) }))
  const calls = replace(keys.slice(0, 20))
  await outage.begin()
  calls.push(...replace(keys.slice(20)))
  await sleep(100)
  await outage.end()
  for (const { key, replaced } of await Promise.all(calls)) {
    const outcome = await untilRecovered(
      () => context.attempt(() => driver.get(key)),
      (read) => read !== undefined,
    )
    if (replaced?.value === false)
      context.fail('replaceItem() with the value of the item should return true, or reject, also during an outage')
    else if (!isSameValue(outcome?.value, after) && (replaced !== undefined || !isSameValue(outcome?.value, before)))
      context.fail(
        `after an outage, an item whose replacement ${replaced ? 'succeeded' : 'failed'} is ${abbreviate(outcome)}`,
      )
  }
}

export const replacedItemProofs: readonly Proof[] = [
  proofOf('compares each character of a value that it replaces', proveComparison),
  { name: 'removes an item that others replace at the same time', run: proveRemoval },
  proofOf('removes an item that other processes replace at the same time', proveRemovalByProcess, { needs: 'module' }),
  proofOf('replaces no item that has expired', proveExpired, { waits: true }),
  proofOf('never keeps a replacement whose ttl is 0 or less', proveNoLife),
  proofOf('reports of each replacement around an outage what has happened', proveOutage, { needs: 'outage' }),
]
