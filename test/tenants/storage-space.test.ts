import { openEntries } from '@grantry/core'
import { storageSpace } from '@grantry/core/tenants'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'

const issuer = 'https://id.example.com'
const item = (key: string) => ({ key, value: `value of ${key}`, ttl: 60 })

/** Names that could meet if a key contained them. */
const names = [
  'a',
  'A',
  'a:',
  'a:code',
  ':a',
  '',
  '..',
  '../a',
  'a/b',
  'a%2Fb',
  '\u00E4',
  'a\u0308',
  'a'.repeat(5000),
  '{a}',
  'a\0',
]

describe('parts of a storage', () => {
  test('share no item, whatever their names contain', async () => {
    const driver = memoryDriver()
    const spaces = names.map((name) => storageSpace(driver, name))
    for (const space of [...spaces, driver]) {
      expect(await space.insertItem('code:1', 'x', { ttl: 60 })).toBe(true)
      expect(await space.incrementItem('count:1', { ttl: 60 })).toBe(1)
      expect(await space.commit?.({ create: [item('spent:1')], put: [item('access:1')], remove: ['code:1'] })).toBe(
        true,
      )
    }
    expect(driver.getKeys()).toHaveLength(3 * (names.length + 1))
  })

  test('return their own keys', async () => {
    const driver = memoryDriver()
    const space = storageSpace(
      { ...driver, getItems: (items) => items.map(({ key }) => ({ key, value: driver.getItem(key) })) },
      'a',
    )
    await space.setItem('code:1', 'x', { ttl: 60 })
    expect(await space.getItems?.([{ key: 'code:1' }, { key: 'code:2' }])).toEqual([
      { key: 'code:1', value: 'x' },
      { key: 'code:2', value: null },
    ])
    expect(await space.commit?.({ create: [item('code:1')], put: [], remove: [] })).toEqual(['code:1'])
  })

  test('have entries of their own with the same issuer, which they list in pages', async () => {
    const driver = memoryDriver()
    const [entries, ...others] = [storageSpace(driver, 'a'), storageSpace(driver, 'b'), driver].map((storage) =>
      openEntries({ issuer, storage }),
    )
    const ids = ['c1', 'c2', 'C3', 'c 4', 'c:5']
    for (const id of ids) await entries?.create('client', id, { id })
    const first = await entries?.list('client', { limit: 3 })
    const second = await entries?.list('client', { limit: 3, after: first?.next })
    expect([...(first?.entries ?? []), ...(second?.entries ?? [])].map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect((await entries?.list('client', { limit: 9, prefix: 'c1' }))?.entries.map(({ id }) => id)).toEqual(['c1'])
    for (const otherEntries of others) expect((await otherEntries.list('client', { limit: 9 })).entries).toEqual([])
    expect(await entries?.replace('client', 'c1', 'unknown', {})).toBeUndefined()
  })

  test('do not close the storage, and have only the operations that it has', () => {
    const { getItem, setItem, removeItem, insertItem, incrementItem, replaceItem } = memoryDriver()
    const space = storageSpace({ getItem, setItem, removeItem, insertItem, incrementItem, replaceItem }, 'a')
    expect(space).not.toHaveProperty('commit')
    expect(space).not.toHaveProperty('listKeys')
    expect(space.dispose).toBeUndefined()
  })

  test('refuse keys of entries that they cannot translate', () => {
    const space = storageSpace(memoryDriver(), 'a')
    expect(() => space.getItem('entry:client:x')).toThrow('must contain its kind')
  })
})
