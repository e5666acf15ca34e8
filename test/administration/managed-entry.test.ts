// Attack: who writes to the storage puts the entry of one user or client under the id of another one.
import { expect, test } from 'vitest'
import { managedIn } from '../../packages/administration/src/managed-entry.ts'
import { userType } from '../../packages/administration/src/users/user-type.ts'

test.each([
  ['alice', true],
  ['bob', false],
])('the entry of alice under the id %s is one of hers: %j', (id, isOwn) => {
  const user = { sub: 'alice', username: 'alice' }
  const value = { user, tags: [], createdAt: '2026-01-01T00:00:00Z', changedAt: '2026-01-01T00:00:00Z' }
  expect(managedIn(userType, { id, version: '1', value }) !== undefined).toBe(isOwn)
})
