import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { createStorage } from 'unstorage'
import { expectTypeOf, test } from 'vitest'

test('a storage of unstorage is taken', () => {
  expectTypeOf(unstorageDriver(createStorage())).toEqualTypeOf<AtomicDriver>()
  expectTypeOf(unstorageDriver).toBeCallableWith(createStorage({ driver: memoryDriver() }), { base: 'tokens' })
  expectTypeOf(unstorageDriver).toBeCallableWith(createStorage(), { singleProcess: true })
})

test('what could not work does not compile', () => {
  // @ts-expect-error: a driver goes into createStorage() first
  unstorageDriver(memoryDriver())
  // @ts-expect-error: items are objects, and whoever reads this storage expects text
  unstorageDriver(createStorage<string>(), { singleProcess: true })
  // @ts-expect-error: the option is singleProcess
  unstorageDriver(createStorage(), { single: true })
})

test('a driver may lack the counter', () => {
  expectTypeOf<Omit<ReturnType<typeof memoryDriver>, 'incrementItem'>>().toExtend<AtomicDriver>()
})
