import type { DriverChanges, DriverItem } from '@grantry/core'
import { watchLife } from './expiry.ts'
import type { Operations } from './operations.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { abbreviate, freshKey, isSameValue, recordOf } from './sample-records.ts'
import { sleep } from './timing.ts'

export const noCommit =
  'the driver has no commit(): single use is the same, but a crash or a lost race can leave orphaned records'

/** Opens a driver. Returns `undefined`, and skips the proof, if it has no `commit()`. */
export async function openCommitting(context: ProofContext): Promise<Operations | undefined> {
  const driver = await context.open()
  if (driver.driver.commit !== undefined) return driver
  context.skip(noCommit)
  return undefined
}

export const itemOf = (key: string, value: unknown, ttl = 3600): DriverItem => ({ key, value: recordOf(value), ttl })

/** Checks the items under keys; `undefined` for an absent one. */
export async function expectItems(
  context: ProofContext,
  { get }: Operations,
  when: string,
  expected: readonly (readonly [key: string, what: string, value: string | undefined])[],
): Promise<void> {
  for (const [key, what, value] of expected) {
    const stored = await get(key)
    if (value === undefined ? stored === undefined : isSameValue(stored, value)) continue
    context.fail(`${when} ${what} should be ${abbreviate(value)}, but is ${abbreviate(stored)}`)
  }
}

async function proveAll(context: ProofContext, driver: Operations): Promise<void> {
  const [first, second, absent, existing, removed] = [
    freshKey('spent:code'),
    freshKey(),
    freshKey(),
    freshKey(),
    freshKey(),
  ]
  await driver.set(existing, recordOf('earlier'))
  await driver.set(removed, recordOf('earlier'))
  const outcome = await driver.commit({
    create: [itemOf(first, 1), itemOf(second, 2)],
    put: [itemOf(absent, 3), itemOf(existing, 4)],
    remove: [removed, freshKey()],
  })
  if (outcome !== true) context.fail(`commit() should return true when no item exists, but returned ${outcome.join()}`)
  await expectItems(context, driver, 'after commit()', [
    [first, 'the first created item', recordOf(1)],
    [second, 'the second created item', recordOf(2)],
    [absent, 'a new item in put', recordOf(3)],
    [existing, 'an existing item in put', recordOf(4)],
    [removed, 'an item in remove', undefined],
  ])
  if (await driver.insert(first, recordOf('late'))) {
    context.fail('insertItem() over an item that commit() has created should return false')
  }
  await driver.remove(second)
  if ((await driver.commit({ create: [itemOf(second, 5)], put: [], remove: [] })) !== true) {
    context.fail('commit() should create an item again that was removed')
  }
  if ((await driver.commit({ create: [], put: [itemOf(absent, 6)], remove: [existing] })) !== true) {
    context.fail('commit() should return true when it creates nothing')
  }
  await expectItems(context, driver, 'after commit() that creates nothing', [
    [absent, 'the item in put', recordOf(6)],
    [existing, 'the item in remove', undefined],
  ])
}

async function proveNone(context: ProofContext, driver: Operations): Promise<void> {
  const [committed, inserted, set] = [freshKey('spent:code'), freshKey('spent:refresh'), freshKey()]
  const [fresh, last, put, changed, removed] = [freshKey(), freshKey(), freshKey(), freshKey(), freshKey()]
  await driver.commit({ create: [itemOf(committed, 'first')], put: [], remove: [] })
  await driver.insert(inserted, recordOf('first'))
  for (const key of [set, changed, removed]) await driver.set(key, recordOf('first'))
  const changes = (create: readonly string[]): DriverChanges => ({
    create: create.map((key) => itemOf(key, 'late')),
    put: [itemOf(put, 'late'), itemOf(changed, 'late')],
    remove: [removed],
  })
  const creations = [
    { create: [committed], existing: [committed] },
    { create: [fresh, inserted], existing: [inserted] },
    { create: [set, fresh], existing: [set] },
    { create: [fresh, committed, last, inserted], existing: [committed, inserted] },
  ]
  for (const { create, existing } of creations) {
    const outcome = await driver.commit(changes(create))
    const returned = outcome === true ? 'true' : [...outcome].sort().join()
    if (returned !== [...existing].sort().join()) {
      context.fail(
        `commit() of ${create.length} items of which ${existing.length} exist should return their keys, and only those, but returned ${returned}`,
      )
    }
    await expectItems(context, driver, 'after a refused commit()', [
      ...existing.map((key) => [key, 'the existing item', recordOf('first')] as const),
      [fresh, 'the absent item in create', undefined],
      [last, 'the absent item in create', undefined],
      [put, 'the absent item in put', undefined],
      [changed, 'the existing item in put', recordOf('first')],
      [removed, 'the item in remove', recordOf('first')],
    ])
  }
}

/** Commits, and reads meanwhile: the marker first, then what was written with it. */
async function watchCommit(context: ProofContext, driver: Operations): Promise<void> {
  const marker = freshKey('spent:refresh')
  const items = [freshKey(), freshKey('access'), freshKey('replay')].map((key) => itemOf(key, 'x'.repeat(2000)))
  const removed = freshKey()
  await driver.set(removed, recordOf('earlier'))
  let isDone = false
  const write = (): Promise<unknown> =>
    driver.commit({ create: [itemOf(marker, 1)], put: items, remove: [removed] }).finally(() => {
      isDone = true
    })
  const read = async (): Promise<readonly unknown[]> => {
    for (let reads = 1; !isDone && (await driver.get(marker)) === undefined; reads += 1) {
      // Most reads follow one another closely; a timer lets other work run.
      if (reads % 20 === 0) await sleep(0)
    }
    return Promise.all([...items.map(({ key }) => driver.get(key)), driver.get(removed)])
  }
  const [, values] = await Promise.all([write(), read()])
  const missing = values.slice(0, items.length).filter((value) => value === undefined).length
  if (missing > 0) {
    context.fail(
      `a reader sees an item that commit() has created, but ${missing} of the ${items.length} items in put are still absent`,
    )
  }
  if (values.at(-1) !== undefined) {
    context.fail('a reader sees an item that commit() has created, but the item in remove is still there')
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
    const driver = await openCommitting(context)
    if (driver !== undefined) await prove(context, driver)
  },
})

export const commitProofs: readonly Proof[] = [
  proofOf('commits all changes if no item exists', proveAll),
  proofOf('commits nothing if an item exists, and returns the keys of those that do', proveNone),
  proofOf(
    'expires the items of a commit after their ttl',
    async (context, driver) => {
      let [created, kept] = [freshKey(), freshKey()]
      await Promise.all([
        watchLife(context, driver, ['an item that was committed', 1], async (key, ttl) => {
          created = key
          kept = freshKey()
          await driver.commit({
            create: [itemOf(key, 1, ttl)],
            put: [itemOf(freshKey(), 1, 2 * ttl), itemOf(kept, 1)],
            remove: [],
          })
        }),
        watchLife(context, driver, ['an item that was committed', 2], async (key, ttl) => {
          await driver.commit({ create: [itemOf(freshKey(), 1, ttl / 2)], put: [itemOf(key, 1, ttl)], remove: [] })
        }),
      ])
      if ((await driver.get(kept)) === undefined) {
        context.fail('an item that was committed with a ttl of an hour expired with the others')
      }
      const again = await driver.commit({ create: [itemOf(created, 2)], put: [], remove: [] })
      if (again !== true) context.fail('commit() should create an item again that has expired')
    },
    { waits: true },
  ),
  proofOf('never shows a part of a commit to a reader', async (context, driver) => {
    for (let round = 0; round < 20 * context.rounds; round += 1) await watchCommit(context, driver)
  }),
]
