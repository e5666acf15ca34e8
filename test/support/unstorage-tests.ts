import type { Storage } from 'unstorage'
import { expect, test } from 'vitest'

/** Declares the tests of a driver inside unstorage that do not depend on the driver. */
export function testItemsInUnstorage(storage: () => Storage): void {
  test('sets, gets, has and removes', async () => {
    const items = storage()
    expect([await items.getItem('a:b'), await items.hasItem('a:b')]).toEqual([null, false])
    await items.setItem('a:b', { deep: ['value', 1, null] })
    expect([await items.getItem('a:b'), await items.hasItem('a/b')]).toEqual([{ deep: ['value', 1, null] }, true])
    await items.removeItem('a:b')
    expect([await items.getItem('a:b'), await items.hasItem('a:b')]).toEqual([null, false])
  })

  test('sets and gets several items in one call', async () => {
    const items = storage()
    await items.setItems([
      { key: 'a', value: 'one' },
      { key: 'a:b', value: 'two' },
    ])
    expect(await items.getItems(['a', 'a:b', 'a:b:c'])).toEqual([
      { key: 'a', value: 'one' },
      { key: 'a:b', value: 'two' },
      { key: 'a:b:c', value: null },
    ])
  })

  test('stores raw bytes', async () => {
    const items = storage()
    const bytes = new Uint8Array([0, 255, 128, 10])
    await items.setItemRaw('bytes', bytes)
    expect(new Uint8Array((await items.getItemRaw<Uint8Array>('bytes')) ?? [])).toEqual(bytes)
  })
}
