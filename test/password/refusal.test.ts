// Attack: learning from an error response which user names exist, or that a guessed password was right.
import type { AtomicDriver, UserService } from '@grantry/core'
import { mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'

const alice = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }

describe('an invalid password', () => {
  const refusals = [
    ['an unknown user', { username: 'absent' }],
    ['a user named like a property of Object.prototype', { username: 'constructor' }],
    ['a wrong password', { password: 'alice-passwor' }],
    ['an inactive user', { username: 'carol', password: 'carol-password' }],
  ] as const

  /** The store operations in order: work that an attacker could time. */
  function recording(): { operations: string[]; storage: AtomicDriver } {
    const operations: string[] = []
    const driver = mapDriver()
    const storage: AtomicDriver = {
      ...driver,
      getItem(key) {
        operations.push(`get ${key.split(':')[0]}`)
        return driver.getItem(key)
      },
      insertItem(key, value, options) {
        operations.push(`insert ${key.split(':')[0]}`)
        return driver.insertItem(key, value, options)
      },
    }
    return { operations, storage }
  }

  async function attempt(wrong: Partial<typeof alice>) {
    const { operations, storage } = recording()
    const f = await fixture({ storage })
    f.users.carol = { sub: '3', password: 'carol-password', active: false, claims: {} }
    operations.length = 0
    const { status, headers, body } = await f.post('token', { ...alice, ...wrong }, web)
    const events = f.events.map(({ type }) => type)
    return { status, headers: [...headers], body, operations, events }
  }

  test.each(refusals)('3.19 %s gets the same error', async (_, wrong) => {
    const { status, body } = await attempt(wrong)
    expect(status).toBe(400)
    expect(body).toEqual({
      error: 'invalid_grant',
      error_description: 'The user name or password is not valid',
    })
  })

  test.each(refusals)('3.19 %s costs the same work and gets the same headers as a wrong password', async (_, wrong) => {
    expect(await attempt(wrong)).toEqual(await attempt({ password: 'wrong' }))
  })

  test('3.19 a user whom the service authenticates but reports as inactive gets the same error', async () => {
    const users: UserService = { authenticate: () => ({ sub: '3' }), isActive: () => false }
    const f = await fixture({ users })
    const response = await f.post('token', alice, web)
    expect(response.status).toBe(400)
    expect(response.body).toEqual((await attempt({ password: 'wrong' })).body)
  })
})
