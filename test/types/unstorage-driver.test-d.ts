import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { unstorageDriver } from '@grantry/storage-drivers/unstorage'
import { createStorage } from 'unstorage'
import { expectTypeOf, test } from 'vitest'

test('an unstorage driver is accepted as storage', () => {
  expectTypeOf(unstorageDriver(createStorage())).toEqualTypeOf<AtomicDriver>()
  expectTypeOf(unstorageDriver).toBeCallableWith(createStorage({ driver: memoryDriver() }), { base: 'tokens' })
  expectTypeOf(unstorageDriver).toBeCallableWith(createStorage(), { singleProcess: true })
})

test('a driver that cannot work does not compile', () => {
  // @ts-expect-error: a driver goes into createStorage() first
  unstorageDriver(memoryDriver())
  // @ts-expect-error: items are objects, but readers of this storage expect strings
  unstorageDriver(createStorage<string>(), { singleProcess: true })
  // @ts-expect-error: the option is singleProcess
  unstorageDriver(createStorage(), { single: true })
})

test('the counter is required', () => {
  expectTypeOf<Omit<ReturnType<typeof memoryDriver>, 'incrementItem'>>().not.toExtend<AtomicDriver>()
})
