import { watchLife } from './expiry.ts'
import type { Operations } from './operations.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { abbreviate, freshKey, isSameValue, recordOf } from './sample-records.ts'
import { randomDelay } from './timing.ts'

const noGetItems = 'the driver has no getItems(): the core reads the items with getItem()'

/** The expected values of several keys; `undefined` for an absent item. */
type Expected = readonly (readonly [key: string, what: string, value: string | undefined])[]

/** Checks the items in several orders: a result must belong to its key, not to its position. */
async function expectTogether(context: ProofContext, { getAll }: Operations, when: string, expected: Expected) {
  for (const order of [expected, [...expected].reverse()]) {
    const values = await getAll(order.map(([key]) => key))
    for (const [index, [, what, value]] of order.entries()) {
      if (value === undefined ? values[index] === undefined : isSameValue(values[index], value)) continue
      context.fail(
        `${when} getItems() should return ${abbreviate(value)} for ${what}, but returned ${abbreviate(values[index])}`,
      )
    }
  }
}

async function proveValues(context: ProofContext, driver: Operations): Promise<void> {
  const [token, marker, ordinary, absent] = [freshKey('refresh'), freshKey('spent:refresh'), freshKey(), freshKey()]
  await expectTogether(context, driver, 'before a write', [
    [token, 'an absent item', undefined],
    [marker, 'an absent item', undefined],
  ])
  await driver.set(token, recordOf('token'))
  await driver.insert(marker, recordOf('marker'))
  await driver.set(ordinary, recordOf('other'))
  await expectTogether(context, driver, 'after the writes', [
    [token, 'an item that was set', recordOf('token')],
    [absent, 'an absent item', undefined],
    [marker, 'an item that was inserted', recordOf('marker')],
    [ordinary, 'another item', recordOf('other')],
  ])
  await driver.set(token, recordOf('replaced'))
  await driver.remove(ordinary)
  await driver.insert(absent, recordOf('inserted'))
  await expectTogether(context, driver, 'after later writes', [
    [token, 'an item that was replaced', recordOf('replaced')],
    [absent, 'an item that was absent before', recordOf('inserted')],
    [ordinary, 'an item that was removed', undefined],
    [marker, 'an item that has not changed', recordOf('marker')],
  ])
}

async function proveMany(context: ProofContext, driver: Operations): Promise<void> {
  const items = Array.from({ length: 60 }, (_, index) => ({ key: freshKey(), value: recordOf(index) }))
  await Promise.all(items.map(({ key, value }) => driver.set(key, value)))
  const readers = Array.from({ length: 40 }, async (_, reader) => {
    const start = reader % 30
    const chosen = items.slice(start, start + 2 + (reader % 20))
    if (reader % 2 === 1) await randomDelay()
    const values =
      reader % 5 === 0 ? [await driver.get(chosen[0]?.key ?? '')] : await driver.getAll(chosen.map(({ key }) => key))
    return values.every((value, index) => isSameValue(value, chosen[index]?.value ?? ''))
  })
  const wrong = (await Promise.all(readers)).filter((isRight) => !isRight).length
  if (wrong > 0) context.fail(`of 40 concurrent reads of different items, ${wrong} returned values of other items`)
}

async function proveExpiry(context: ProofContext, driver: Operations): Promise<void> {
  let [short, long] = [freshKey(), freshKey()]
  await driver.set(long, recordOf('long'))
  const together: Operations = { ...driver, get: async (key) => (await driver.getAll([long, key]))[1] }
  await watchLife(context, together, ['an item that getItems() reads', 1], async (key, ttl) => {
    short = key
    await driver.set(key, recordOf('short'), ttl)
  })
  await expectTogether(context, driver, 'after the expiry of another item', [
    [long, 'an item with a ttl of an hour', recordOf('long')],
    [short, 'an item that has expired', undefined],
  ])
}

const proofOf = (
  name: string,
  prove: (context: ProofContext, driver: Operations) => Promise<void>,
  more: Partial<Proof> = {},
): Proof => ({
  name,
  ...more,
  async run(context) {
    const driver = await context.open()
    if (driver.driver.getItems === undefined) context.skip(noGetItems)
    else await prove(context, driver)
  },
})

export const severalItems: readonly Proof[] = [
  proofOf('reads several items in one call, each with its own current value', proveValues),
  proofOf('reads several items in one call while others are read', proveMany),
  proofOf('returns no expired item among several', proveExpiry, { waits: true }),
]
