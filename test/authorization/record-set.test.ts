import { clientCredentials } from '@grantry/plugins/client-credentials'
import { createTestProvider, mapDriver } from '@grantry/testing'
import { expect, test } from 'vitest'
import { recordSet } from '../../plugins/shared/record-set.ts'
import { kitOf, kitPlugin } from '../support/kit-of.ts'

async function setUp() {
  const items = new Map<string, string>()
  const f = await createTestProvider({ plugins: [clientCredentials(), kitPlugin('lists')], storage: mapDriver(items) })
  const kit = kitOf(f.provider, 'lists')
  return { set: recordSet(kit, 'list', 3), end: kit.now() + 600, items, clock: f.clock }
}

test('a member that two calls give a place has one, and the other place is free', async () => {
  const { set, end } = await setUp()
  await set.insert('one', end)
  await set.insert('two', end)
  await set
    .replace('one', 'new', end, async () => {
      expect(await set.replace('two', 'new', end, async () => {})).toBe(true)
    })
    .then((hasPlace) => expect(hasPlace).toBe(true))
  expect(await set.list()).toEqual(['new'])
  expect([await set.insert('three', end), await set.insert('four', end)]).toEqual([true, true])
})

test('a longer life of all members of an empty list is not stored', async () => {
  const { set, end, items } = await setUp()
  const before = items.size
  await set.extendAll(end)
  expect(items.size).toBe(before)
})

test('a member that is added again as the newest one has one place', async () => {
  const { set, end } = await setUp()
  for (const member of ['one', 'two', 'one']) await set.push(member, end)
  expect(await set.list()).toEqual(['two', 'one'])
  await set.push('three', end)
  await set.push('four', end)
  expect(await set.list()).toEqual(['one', 'three', 'four'])
})

test.each(['add', 'extend'] as const)('a member whose place is given away cannot stay: %s', async (method) => {
  const { set, end } = await setUp()
  await set.add('one', end)
  await set.replace('one', 'new', end, async () => {
    expect(await set[method]('one', end + 60)).toBe(false)
    expect(await set.list()).toEqual(['one'])
  })
  expect(await set.list()).toEqual(['new'])
})

test.each(['add', 'extend'] as const)(
  'a call that stands still for too long gives no place away: %s',
  async (method) => {
    const { set, end, clock } = await setUp()
    await set.add('one', end)
    const hasPlace = await set.replace('one', 'new', end, async () => {
      clock.advance(61)
      expect(await set[method]('one', end)).toBe(true)
    })
    expect(hasPlace).toBe(false)
    expect(await set.list()).toEqual(['one'])
  },
)
