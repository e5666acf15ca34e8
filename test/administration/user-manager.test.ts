// The manager of users: passwords stay hidden, disabling ends what was issued, and the search finds names by their start.
import { kinds, shownEntry } from '@grantry/administration'
import { describe, expect, test } from 'vitest'
import { administratorOn, newStorage, reasonOf } from './user-setting.ts'

const open = () => administratorOn(newStorage())
const password = 'correct horse battery'
const hash = `hash of ${password.length} characters`

describe('a user', () => {
  test('gets a sub that is not used again', async () => {
    const { users } = open()
    const { id, value } = await users.add({ username: 'alice', claims: { name: 'Alice' } }, ['staff'])
    expect(id).toMatch(/^[0-9a-f]{32}$/u)
    expect(value).toEqual({ sub: id, username: 'alice', claims: { name: 'Alice' } })
    await users.remove(id)
    expect(await reasonOf(users.add({ sub: id, username: 'bob' }))).toBe('exists')
    expect(await users.has(id)).toBe(false)
    expect((await users.add({ username: 'alice' })).id).not.toBe(id)
  })

  test('is shown and recorded without the password and its hash', async () => {
    const { users, entries, trail } = open()
    const user = await users.add({ sub: 'a', username: 'alice' }, [], { newPassword: password })
    await users.setPassword('a', `${password}!`)
    expect(shownEntry(kinds.user.type, user)).toMatchObject({ password: true })
    expect(JSON.stringify((await entries.get('user', 'a'))?.value)).toContain('hash of 22 characters')
    const records = await trail()
    expect(records.map(({ action }) => action)).toEqual(['user_password_changed', 'user_added'])
    for (const hidden of [password, 'hash of']) expect(JSON.stringify(records)).not.toContain(hidden)
  })

  test('loses sessions and tokens when it is disabled, removed, or gets another password', async () => {
    const { users, revoked } = open()
    await users.add({ sub: 'a', username: 'alice', password: hash })
    await users.edit('a', { claims: { name: 'Alice' } })
    expect(revoked).toEqual([])
    for (const act of [
      () => users.edit('a', { active: false }),
      () => users.edit('a', { active: true }),
      () => users.setPassword('a', `another ${password}`),
      () => users.remove('a'),
    ]) {
      await act()
      // Before and after a new password.
      expect(new Set(revoked.splice(0).map((target) => JSON.stringify(target)))).toEqual(new Set(['{"subject":"a"}']))
    }
  })

  test('that was changed meanwhile keeps the change of the other administrator', async () => {
    const { users } = open()
    const { version } = await users.add({ sub: 'a', username: 'alice' })
    await users.edit('a', { claims: { name: 'Alice' } }, { version })
    const refusals = [
      users.edit('a', { username: 'bob' }, { version }),
      users.setPassword('a', password, { version }),
      users.remove('a', { version }),
    ]
    expect(await Promise.all(refusals.map(reasonOf))).toEqual(['outdated', 'outdated', 'outdated'])
    expect(await users.find('alice')).toMatchObject({ value: { claims: { name: 'Alice' } } })
    expect(await users.find('bob')).toBeUndefined()
  })

  const wrong: readonly (readonly [name: string, user: object, member: string | undefined])[] = [
    ['without a name', {}, 'username'],
    ['with an empty name', { username: '' }, 'username'],
    ['with a name with a line break', { username: 'alice\nadmin' }, 'username'],
    ['with a name with an invisible character', { username: 'al\u200bice' }, 'username'],
    ['with a name that ends with a space', { username: 'alice ' }, 'username'],
    ['with a name of 257 characters', { username: 'a'.repeat(257) }, 'username'],
    ['with a name with half a character', { username: 'a\ud800' }, 'username'],
    ['with a sub that no entry can have', { username: 'alice', sub: 'caf\u00e9' }, undefined],
    ['with an unknown member', { username: 'alice', pasword: password }, 'pasword'],
    ['with claims in a list', { username: 'alice', claims: [password] }, 'claims'],
    ['with a state in words', { username: 'alice', active: 'no' }, 'active'],
  ]
  test.each(wrong)('%s is refused, and not recorded', async (_, user, member) => {
    const { users, trail } = open()
    const refused = await users.add(user as never).catch((thrown: unknown) => thrown)
    expect(refused).toMatchObject({ refusal: { reason: 'invalid', member } })
    expect(String(refused)).not.toContain(password)
    expect(String(refused)).not.toContain('\n')
    expect(await trail()).toEqual([])
  })

  test.each(['', 'short', 'x'.repeat(1025), '         ', `${password}\nb`])(
    'is refused the password %j',
    async (wrong) => {
      const { users } = open()
      await users.add({ sub: 'a', username: 'alice' })
      const refused = await users.setPassword('a', wrong).catch((thrown: unknown) => thrown)
      expect(refused).toMatchObject({ refusal: { reason: 'invalid', member: 'password' } })
      if (wrong.length > 1) expect(String(refused)).not.toContain(wrong)
    },
  )
})

describe('the search', () => {
  const long = `${'very-long-name-'.repeat(12)}end`
  const names = [
    'alice',
    'Alicia',
    'al',
    'albert@example.com',
    'ali\u00e7e',
    '\u00c9mile',
    '\u5c71\u7530',
    'jean-pierre m\u00fcller',
    'jean-pierre',
    long,
    'tilde~name',
    'Bob Miller',
  ]

  async function withNames() {
    const { users, ...more } = open()
    for (const username of names) await users.add({ username })
    const namesFrom = async (name: string, limit = 100) => {
      const all: string[] = []
      let after: string | undefined
      let pages = 0
      do {
        const page = await users.search({ name, limit, after })
        expect(page.unreadable).toEqual([])
        all.push(...page.entries.map(({ value }) => value.username))
        after = page.next
        pages += 1
      } while (after !== undefined && pages < 50)
      return all.sort()
    }
    return { users, namesFrom, ...more }
  }

  test('finds every name by each of its starts, in any case, in pages of any size', async () => {
    const { namesFrom } = await withNames()
    for (const name of names) {
      for (let end = 1; end <= name.length; end += name.length > 50 ? 13 : 1) {
        const start = name.slice(0, end)
        const expected = names.filter((candidate) => candidate.toLowerCase().startsWith(start.toLowerCase())).sort()
        expect(await namesFrom(start.toUpperCase())).toEqual(expected)
      }
    }
    for (const limit of [1, 2, 3, 5]) {
      expect(await namesFrom('', limit)).toEqual([...names].sort())
      expect(await namesFrom('jean-pierre', limit)).toEqual(['jean-pierre', 'jean-pierre m\u00fcller'])
    }
  })

  test('does not find a name that a process claimed before it died, and finds the user by the name that it has', async () => {
    const { entries, namesFrom } = await withNames()
    const owner = { name: 'alfred', sub: 'unknown' }
    await entries.create('user-name', 'alfred', owner)
    expect(await namesFrom('alf')).toEqual([])
    expect(await namesFrom('al')).toEqual(['Alicia', 'al', 'albert@example.com', 'alice', 'ali\u00e7e'])
  })
})

test('the ids of a kind that never reuses them are used up by a removal', async () => {
  const { entries } = open()
  const created = await entries.create('user', 'a', 1)
  expect(await entries.retire('user', 'a')).toBe(false)
  await entries.remove('user', 'a', created?.version ?? '')
  expect(await entries.create('user', 'a', 2)).toBeUndefined()
  expect([await entries.retire('user', 'a'), await entries.retire('user', 'b')]).toEqual([true, true])
  expect(await entries.create('user', 'b', 2)).toBeUndefined()
  await expect(entries.retire('client', 'a')).rejects.toThrow('Entries of the kind client reuse their ids')
  const added = await entries.create('user', 'c', 3)
  expect(await entries.getAll('user', ['b', 'c', 'caf\u00e9', 'unknown'])).toEqual([
    undefined,
    added,
    undefined,
    undefined,
  ])
  expect((await entries.list('user', { limit: 10 })).entries).toEqual([added])
})
