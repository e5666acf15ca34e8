// A new password, while another call revokes or deactivates the user at each moment. `attacks/password-at-each-call` does the
// same with a real storage; here, each rule of `replacePassword()` has its own moment.
import type { EndpointKit } from '@grantry/core'
import { replacePassword, type Sessions } from '@grantry/plugins/authorization-endpoint'
import { expect, test } from 'vitest'

/** @param counts how often the state is renewed before another call has come first @param active how often the user is active */
function setUp(counts: number, active = Number.POSITIVE_INFINITY) {
  const log: string[] = []
  let [renewed, asked] = [0, 0]
  const sessions = {
    async renewStanding() {
      log.push('end')
      renewed += 1
      return renewed > counts ? undefined : { epoch: `e${renewed}` }
    },
    endAll: async () => void log.push('end all'),
  } as unknown as Sessions
  const kit = {
    async isUserActive() {
      asked += 1
      return asked <= active
    },
    revoke: async () => void log.push('revoke'),
  } as unknown as EndpointKit
  const replace = <T extends object>(result: T | 'taken' | undefined) =>
    replacePassword({ sub: 'alice', standing: {}, sessions }, kit, async (isStillAllowed) => {
      if (!(await isStillAllowed())) return undefined
      log.push('write')
      return result
    })
  return { log, replace }
}

const account = { sub: 'alice' }
const revoked = ['revoke', 'end all']

test.each([
  [
    'no other call comes',
    3,
    undefined,
    { changed: account, standing: { epoch: 'e3' } },
    ['end', 'end', 'write', 'end'],
  ],
  ['another call comes before all', 0, undefined, {}, ['end']],
  ['another call comes before the write', 1, undefined, {}, ['end', 'end']],
  [
    'another call comes after the write',
    2,
    undefined,
    { changed: account },
    ['end', 'end', 'write', 'end', ...revoked],
  ],
  ['the user is inactive before all', 3, 0, {}, ['end']],
  ['the user is deactivated before the write', 3, 1, {}, ['end', 'end']],
  ['the user is deactivated after the write', 3, 2, { changed: account }, ['end', 'end', 'write', 'end', ...revoked]],
])('a password is replaced when %s', async (_, counts, active, expected, steps) => {
  const { log, replace } = setUp(counts, active)
  expect(await replace(account)).toEqual(expected)
  expect(log).toEqual(steps)
})

test.each([undefined, 'taken'] as const)('a change that results in %s ends nothing more', async (result) => {
  const { log, replace } = setUp(3)
  expect(await replace(result)).toEqual({})
  expect(log).toEqual(['end', 'end', 'write'])
})
