import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import type { Driver } from 'unstorage'
import { expectTypeOf, test } from 'vitest'

// The type is written out, so that users do not type-check all of unstorage. It must still be assignable to theirs.
test('the memory driver is an unstorage driver that can insert atomically', () => {
  expectTypeOf(memoryDriver()).toExtend<Driver>()
  expectTypeOf(memoryDriver()).toExtend<AtomicDriver>()
})

test('the memory driver counts', () => {
  expectTypeOf(memoryDriver().incrementItem).parameters.toEqualTypeOf<[string, { ttl: number }]>()
  expectTypeOf(memoryDriver().incrementItem).returns.toEqualTypeOf<number>()
})
