import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import type { Driver } from 'unstorage'
import { expectTypeOf, test } from 'vitest'

// Its type is written out, so that nobody who uses it type-checks the whole of unstorage. It must stay one of theirs all the same.
test('the memory driver is an unstorage driver that can insert atomically', () => {
  expectTypeOf(memoryDriver()).toExtend<Driver>()
  expectTypeOf(memoryDriver()).toExtend<AtomicDriver>()
})

test('the memory driver counts', () => {
  expectTypeOf(memoryDriver().incrementItem).parameters.toEqualTypeOf<[string, { ttl: number }]>()
  expectTypeOf(memoryDriver().incrementItem).returns.toEqualTypeOf<number>()
})
