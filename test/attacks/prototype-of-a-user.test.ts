// Attack: a host returns parsed JSON from `users.authenticate`, with a member `__proto__` of another author.
// As the prototype of the subject, it would add members that the host has not checked.
import type { AuthenticatedUser } from '@grantry/core'
import { expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'

const signIn = async (user: string) => {
  const { post } = await fixture({ users: { authenticate: (): AuthenticatedUser => JSON.parse(user) } })
  return post('token', { grant_type: 'password', username: 'jane', password: 'x', scope: 'api1' }, web)
}

test('a user without such a member signs in', async () => {
  expect((await signIn('{"sub":"7"}')).status).toBe(200)
})

test.each([
  ['adds what the host does not say', '{"sub":"7","__proto__":{"acr":"urn:mfa","idp":"corp"}}'],
  ['names the user', '{"__proto__":{"sub":"admin"}}'],
])('a prototype that %s is refused', async (_what, user) => {
  expect((await signIn(user)).status).toBe(500)
})
