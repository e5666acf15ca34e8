// Attack: some users have a hash that cannot be checked, or a name that another one has, too. A stranger who guesses learns from an
// error who they are, without a password.
import { type AuthenticatedUser, OAuthError } from '@grantry/core'
import { expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'

const unusable = (): never => {
  throw new OAuthError('server_error', 'The request failed', {
    reason: 'user_record_unusable',
    cause: new Error('the hash of the user with the sub "1" cannot be checked'),
  })
}

const setUp = () =>
  fixture({
    users: {
      authenticate: ({ username, password }): AuthenticatedUser | undefined =>
        username === 'old' ? unusable() : username === 'ann' && password === 'right' ? { sub: 'ann' } : undefined,
    },
  })

test('a record that cannot be used is answered as a wrong password, and the operator learns of it', async () => {
  const f = await setUp()
  const signIn = (username: string, password = 'guess') =>
    f.post('token', { grant_type: 'password', username, password, scope: 'api1' }, web)
  const [old, unknown, known] = [await signIn('old'), await signIn('unknown'), await signIn('ann')]
  expect(old.status).toBe(400)
  for (const refusal of [unknown, known]) expect([old.status, old.body]).toEqual([refusal.status, refusal.body])
  expect((await signIn('ann', 'right')).status).toBe(200)
  const failures = f.events.filter(({ type }) => type === 'unhandled_failure')
  expect(failures).toMatchObject([
    { reason: 'user_record_unusable', port: 'users.authenticate', cause: { message: expect.stringContaining('"1"') } },
  ])
})

test('attempts for a record that cannot be used count as those for an unknown name', async () => {
  const f = await setUp()
  const statuses = async (username: string) => {
    const received: number[] = []
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const { status } = await f.post(
        'token',
        { grant_type: 'password', username, password: 'guess', scope: 'api1' },
        web,
      )
      received.push(status)
    }
    return received
  }
  expect(await statuses('old')).toEqual(await statuses('unknown'))
})
