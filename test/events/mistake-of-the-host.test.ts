/**
 * Attack: an attacker reads the log of a host that made a mistake. Values that the host passed must not be repeated
 * there.
 */
import { inspect } from 'node:util'
import { isOAuthError, type ProviderEvent, type UserService } from '@grantry/core'
import { expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'

/** As a logger would write it, with everything that JSON leaves out of an error. */
const written = (events: readonly ProviderEvent[]): string =>
  JSON.stringify(events) + inspect(events, { depth: null, maxArrayLength: null, maxStringLength: null })

// Hosts return the row of their user table by mistake. That is an error (500), and its report must not contain the row.
test('10.13 the record that a user service returns by mistake is not logged', async () => {
  const row = { sub: '1', password: 'alice-password', password_hash: 'hash-of-the-password' }
  const users = { authenticate: () => row, isActive: () => true } as UserService
  const f = await fixture({ users })
  const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }
  const response = await f.post('token', form, web)
  expect([response.status, response.body]).toEqual([500, { error: 'server_error' }])
  expect(f.events.map(({ type }) => type)).toContain('unhandled_failure')
  const log = written(f.events)
  expect(['alice-password', 'hash-of-the-password'].filter((secret) => log.includes(secret))).toEqual([])
})

test('10.13 a rejected code request of the host is not repeated', async () => {
  const f = await fixture()
  const challenge = 'short-code-challenge'
  const refusal = await f.code({ codeChallenge: challenge }).catch((error: unknown) => error)
  expect(isOAuthError(refusal)).toBe(true)
  expect(inspect(refusal, { depth: null }) + written(f.events)).not.toContain(challenge)
})
