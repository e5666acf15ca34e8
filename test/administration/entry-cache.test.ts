// Attack: a user or client that was disabled stays active in a process that remembers it: each read of another entry seems
// to confirm what is remembered.
import type { Entry, Json } from '@grantry/core'
import { expect, test } from 'vitest'
import { createEntryCache } from '../../packages/administration/src/stored/entry-cache.ts'

/** Entries in a storage, and what a process finds of them. */
function setUp() {
  const stored = new Map<string, Entry>()
  let revision = 0
  let reads = 0
  const cache = createEntryCache<Json>({
    entries: {
      async getWithRevision(_kind, id) {
        reads += 1
        return { revision: String(revision), entry: stored.get(id) }
      },
    },
    kind: 'user',
    cacheFor: 5,
    parse: ({ value }) => value,
  })
  /** @param isNoted whether the change has a new revision: not if its process was killed in between */
  const put = (id: string, value: string, isNoted = true) => {
    stored.set(id, { id, version: value, value })
    if (isNoted) revision += 1
  }
  put('alice', 'active')
  put('bob', 'active')
  return { find: async (id: string, now: number) => cache.find(id, now), put, readsOf: () => reads }
}

test('an entry that has changed is not confirmed by later reads of another one', async () => {
  const { find, put } = setUp()
  for (const now of [0, 5]) for (const id of ['alice', 'bob']) await find(id, now)
  put('alice', 'disabled')
  // The first one shows the change, the second one no further change.
  for (const now of [11, 17]) await find('bob', now)
  expect(await find('alice', 18)).toBe('disabled')
})

test('an entry that a killed process has changed is read again after a minute', async () => {
  const { find, put, readsOf } = setUp()
  for (const now of [0, 1, 6]) for (const id of ['alice', 'bob']) await find(id, now)
  put('alice', 'disabled', false)
  for (let now = 7; now < 60; now += 1) await find('bob', now)
  const before = readsOf()
  expect(await find('alice', 59)).toBe('active')
  expect(readsOf()).toBe(before)
  for (let now = 60; now < 70; now += 1) await find('bob', now)
  expect(await find('alice', 70)).toBe('disabled')
})
