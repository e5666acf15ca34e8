import type { AtomicDriver } from '@grantry/core'
import { filesystemDriver } from '@grantry/storage-drivers/filesystem'
import type { Driver } from 'unstorage'
import { expectTypeOf, test } from 'vitest'

// The type is written out, so that users do not type-check all of unstorage. It must still be assignable to theirs.
test('the filesystem driver is an unstorage driver that can insert atomically', () => {
  expectTypeOf(filesystemDriver({ directory: 'storage' })).toExtend<Driver>()
  expectTypeOf(filesystemDriver({ directory: 'storage' })).toExtend<AtomicDriver>()
})

test('the filesystem driver counts', () => {
  expectTypeOf(filesystemDriver({ directory: 'storage' }).incrementItem).parameters.toEqualTypeOf<
    [string, { ttl: number }]
  >()
  expectTypeOf(filesystemDriver({ directory: 'storage' }).incrementItem).returns.toEqualTypeOf<Promise<number>>()
})
