// Attack: an id with a space, such as `x user:alice`, writes the name of another administrator into the audit trail.
import type { Client } from '@grantry/core'
import { expect, test } from 'vitest'
import { nameOf } from '../../packages/administration/src/api/administrator.ts'

test.each([
  ['ops', 'alice', 'client:ops user:alice'],
  ['ops user:alice', undefined, 'client:ops%20user%3Aalice'],
  ['ops', 'x user:alice', 'client:ops user:x%20user%3Aalice'],
  ['ops', '%20', 'client:ops user:%2520'],
])('the client %j and the user %j are recorded as %s', (clientId, sub, name) => {
  expect(nameOf({ client: { clientId } as Client, sub })).toBe(name)
})
