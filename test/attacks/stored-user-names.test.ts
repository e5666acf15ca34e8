// Attack: an attacker looks for the names of users in the storage, or signs in as a user by a name that looks the same. An
// attempt for an unknown name, for a user without a password and for a disabled user must cost the same reads and the same
// work as one for a known user, and lead to the same response. A name of another case or Unicode form is the same user, and
// can never be added as a second one; a name with a line break or invisible characters is no name.
import { expect, test } from 'vitest'
import { password, quickHash, withStoredUsers } from '../administration/stored-user-setting.ts'
import { reasonOf } from '../administration/user-setting.ts'
import { fixture, web } from '../support/fixture.ts'

async function open() {
  const derived: string[] = []
  const derive = async (typed: string, salt: Uint8Array, length: number, cost: object) => {
    derived.push(`${typed} ${salt.length} ${length} ${JSON.stringify(cost)}`)
    return new Uint8Array(length)
  }
  const f = await withStoredUsers(fixture, { derive })
  await f.users.add({ sub: 'a', username: 'alice', password: quickHash })
  await f.users.add({ sub: 'b', username: 'bob', password: quickHash, active: false })
  await f.users.add({ sub: 'c', username: 'carol' })
  const attempt = async (username: string) => {
    f.reads.length = 0
    derived.length = 0
    const { status, body } = await f.post('token', { grant_type: 'password', username, password, scope: 'openid' }, web)
    return { status, body, reads: [...f.reads], derived: [...derived] }
  }
  // The check knows the cost from here on.
  await attempt('alice')
  return { ...f, attempt }
}

test.each([
  'unknown',
  'bob',
  'carol',
  'alice\n',
  'alice\u0000',
  'al\u200bice',
  'alice/../bob',
  '__proto__',
  '%61lice',
  '~',
  'x'.repeat(256),
  '\u0301'.repeat(256),
])('the name %j costs the same reads and work as a known one, and has the same response', async (name) => {
  const { attempt } = await open()
  const known = await attempt('alice')
  expect(known.reads).toEqual(['user-name', 'user'])
  expect(known.derived).toHaveLength(1)
  expect(await attempt(name)).toEqual(known)
})

test.each(['ALICE', 'a\u006cice', '\u24d0lice', '\uff41\uff4c\uff49\uff43\uff45'])(
  'the name %j cannot be added beside alice',
  async (name) => {
    const { users } = await open()
    expect(await reasonOf(users.add({ username: name }))).toBe('exists')
    expect(await reasonOf(users.edit('c', { username: name }))).toBe('exists')
  },
)

test.each(['alice\n', 'alice\r\nbob', '\u202ealice', 'al\u2060ice', 'alice\u0000', ' alice'])(
  'the name %j cannot be added',
  async (name) => {
    const { users } = await open()
    expect(await reasonOf(users.add({ username: name }))).toBe('invalid')
    expect(await reasonOf(users.edit('c', { username: name }))).toBe('invalid')
  },
)
