/**
 * Attack: an administrator of one tenant, or many users who sign up there, set more new passwords at the same time than the
 * process hashes. Users of another tenant must be able to set theirs, and must not wait for all of them.
 *
 * Decision 163 (new passwords), decision 168 (tenants).
 */
import { isOAuthError } from '@grantry/core'
import { expect, test } from 'vitest'
import { newPasswordsOf } from '../../packages/server/src/users/hash-new-password.ts'

test('a full queue of one tenant refuses no new password of another one', async () => {
  const [flooding, quiet] = [{}, {}]
  const order: string[] = []
  // Empty ones are refused as soon as their turn comes, without a computation.
  const flood = Array.from({ length: 300 }, () =>
    newPasswordsOf(flooding)('').catch((error: unknown) => {
      order.push('flood')
      return error
    }),
  )
  const turn = newPasswordsOf(quiet)('')
    .catch((error: unknown) => (isOAuthError(error) ? 'refused' : 'its turn'))
    .finally(() => order.push('quiet'))
  expect(await turn).toBe('its turn')
  // Behind what runs, not behind what waits; the 96 that were refused come first.
  expect(order.indexOf('quiet')).toBeLessThan(150)
  const errors = await Promise.all(flood)
  expect(errors.filter(isOAuthError)).toHaveLength(96)
  // The provider of a tenant has one queue.
  expect(newPasswordsOf(quiet)).toBe(newPasswordsOf(quiet))
})
