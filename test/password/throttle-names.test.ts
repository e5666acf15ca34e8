// Attack: a user service folds case, trims, or normalizes Unicode, so that one user has many spellings. An attacker
// must not get ten guesses for each.
import type { AtomicDriver, UserService } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, testUsers, web } from '../support/fixture.ts'

const guess = (f: Fixture, username: string, password: string) =>
  f.post('token', { grant_type: 'password', username, password, scope: 'api1' }, web)

/** Maps every spelling of a name to the same user. */
function folding(): UserService {
  const { service } = testUsers()
  return {
    ...service,
    authenticate: ({ username, password }, client) =>
      service.authenticate?.({ username: username.normalize('NFKC').trim().toLowerCase(), password }, client),
  }
}

const spellings = ['alice', 'Alice', 'ALICE', ' alice ', '\talice', '\uFF41\uFF4C\uFF49\uFF43\uFF45', '\u00A0aLiCe']

describe('failed passwords of one user', () => {
  test.each(spellings)('%j is the same user for the user service: the right password is accepted', async (name) => {
    const f = await fixture({ users: folding() })
    expect((await guess(f, name, 'alice-password')).status).toBe(200)
  })

  test('count together in every spelling, and then the right password is rejected in every spelling', async () => {
    const f = await fixture({ users: folding(), abuseControl: { passwords: { perUser: { failures: 10 } } } })
    for (let count = 0; count < 10; count += 1) {
      expect((await guess(f, spellings[count % spellings.length] ?? '', 'wrong')).status).toBe(400)
    }
    for (const name of spellings) {
      const { status, body } = await guess(f, name, 'alice-password')
      expect(status).toBe(429)
      expect(body.error).toBe('slow_down')
    }
    expect((await guess(f, 'bob', 'bob-password')).status).toBe(200)
  })

  test('the event has the name as it was sent', async () => {
    const f = await fixture({ users: folding() })
    await guess(f, '\talice', 'alice-password')
    expect(f.events).toContainEqual(
      expect.objectContaining({ type: 'user_authentication_succeeded', username: '\talice' }),
    )
    await guess(f, ' ALICE ', 'wrong')
    expect(f.events).toContainEqual(
      expect.objectContaining({ type: 'user_authentication_failed', username: ' ALICE ', reason: 'wrong_credentials' }),
    )
  })
})

describe('a store that is unreachable when the failures are read', () => {
  test.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('connection lost')
      },
    ],
    ['rejects', () => Promise.reject(new Error('connection lost'))],
    ['returns an error', () => new Error('connection lost')],
  ])('%s: 503, and no failure is counted or reported', async (_, broken) => {
    const driver = mapDriver()
    const storage: AtomicDriver = {
      ...driver,
      getItem: (key) => (key.startsWith('failure:') ? broken() : driver.getItem(key)),
    }
    const f = await fixture({ storage })
    const { status, headers, body } = await guess(f, 'alice', 'alice-password')
    expect(status).toBe(503)
    expect(body).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    const types = f.events.map(({ type }) => type)
    expect(types).not.toContain('user_authentication_failed')
    expect(types).not.toContain('user_authentication_succeeded')
    expect(types).not.toContain('token_issued')
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'unhandled_failure', reason: 'storage_failed' }))
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'storage_failed' })
  })
})
