import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proveDriver } from '@grantry/testing/drivers'
import { shelfDriver } from '../dist/index.js'

test('keeps the guarantees of a storage driver', async () => {
  const shelf = new Map()
  // Each driver that it opens is one more process at the same store.
  const { text } = await proveDriver({ open: () => shelfDriver(shelf) })
  assert.match(text, /, 0 failed/u)
})
