import { isOAuthError } from '@grantry/core'
import { expect, test } from 'vitest'
import { newPasswordsOf } from '../../packages/server/src/users/hash-new-password.ts'

const hashNewPassword = newPasswordsOf({})

test('at most four new passwords are hashed at a time, 200 wait, and further ones are refused', async () => {
  // Empty ones are refused as soon as their turn comes, without a computation.
  const results = await Promise.allSettled(Array.from({ length: 300 }, () => hashNewPassword('')))
  const refused = results.filter((result) => result.status === 'rejected' && isOAuthError(result.reason))
  expect(refused).toHaveLength(96)
  expect(refused[0]).toMatchObject({ reason: { details: { reason: 'password_queue_full', retryAfter: 1 } } })
  expect(await hashNewPassword('the next password')).toMatch(/^\$argon2id\$/u)
})
