// Names of users: each belongs to one user, in every order of two administrators, and wherever a process dies.
import { type AtomicDriver, foldedUsername } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { foldedName } from '../../packages/core/src/folded-text.ts'
import { createRandom } from '../support/random.ts'
import {
  administratorOn,
  dying,
  expectConsistentNames,
  newStorage,
  reasonOf,
  reordered,
  type Users,
} from './user-setting.ts'

type Act = (users: Users) => Promise<unknown>

const add =
  (username: string, sub?: string): Act =>
  (users) =>
    users.add({ username, sub })
const rename =
  (sub: string, username: string): Act =>
  (users) =>
    users.edit(sub, { username })
const remove =
  (sub: string): Act =>
  (users) =>
    users.remove(sub)

/** A storage with alice (sub a) and bob (sub b). */
async function withTwoUsers(): Promise<AtomicDriver> {
  const storage = newStorage()
  const { users } = administratorOn(storage)
  await users.add({ sub: 'a', username: 'alice' })
  await users.add({ sub: 'b', username: 'bob' })
  return storage
}

/** Runs acts at the same time, with their operations in an order that the seed determines. Returns why each was refused. */
async function together(storage: AtomicDriver, seed: number, acts: readonly Act[]) {
  const random = createRandom(seed)
  const slow = reordered(storage, random.below)
  return Promise.all(acts.map((act) => reasonOf(act(administratorOn(slow).users))))
}

test('a claim that a killed command has left leads to no user who has another name, or has not verified the address', async () => {
  const storage = newStorage()
  const { users, entries } = administratorOn(storage)
  await users.add({ sub: 'a', username: 'alice', claims: { email: 'alice@example.com', email_verified: false } })
  await entries.create('user-name', 'mallory', { name: 'mallory', sub: 'a' })
  await entries.create('user-address', 'alice@example.com', { name: 'alice@example.com', sub: 'a' })
  expect([await users.find('mallory'), await users.findByAddress('alice@example.com')]).toEqual([undefined, undefined])
  expect(await users.find('ALICE')).toMatchObject({ id: 'a' })
})

const seeds = Array.from({ length: 150 }, (_, index) => index)

describe('a name', () => {
  test('is the same in every case and Unicode form, for each character, and so is its limit for guesses', () => {
    const different: string[] = []
    const unlimited: string[] = []
    for (let code = 0x21; code <= 0x1ffff; code += 1) {
      const character = String.fromCodePoint(code)
      // The capital form of an iota subscript is a letter, which a limit cannot ignore.
      const upper = character.normalize('NFD').includes('\u0345') ? [] : [character.toUpperCase()]
      const spellings = [...upper, character.toLowerCase(), character.normalize('NFD')]
      const folded = foldedUsername(`a${character}b`)
      if (spellings.some((spelling) => foldedUsername(`a${spelling}b`) !== folded)) different.push(character)
      if (foldedName(character) !== foldedName(foldedUsername(character))) unlimited.push(character)
    }
    expect(different).toEqual([])
    expect(unlimited).toEqual([])
    expect(foldedUsername('STRA\u1E9EE')).toBe(foldedUsername('strasse'))
    expect(foldedUsername('ren\u00e9')).not.toBe(foldedUsername('rene'))
  })

  test.each([['ALICE'], ['\uff41\uff4c\uff49\uff43\uff45']])(
    'that another user has as %j is refused, and recorded nowhere',
    async (username) => {
      const { users, trail } = administratorOn(await withTwoUsers())
      expect(await reasonOf(users.add({ username }))).toBe('exists')
      expect(await reasonOf(users.edit('b', { username }))).toBe('exists')
      expect(await trail()).toHaveLength(2)
    },
  )

  test('can change its case, is free after a renaming and after a removal', async () => {
    const storage = await withTwoUsers()
    const { users } = administratorOn(storage)
    await users.edit('a', { username: 'Alice' })
    await users.edit('a', { username: 'carol' })
    await users.edit('b', { username: 'ALICE' })
    await users.remove('b')
    await users.add({ sub: 'c', username: 'alice' })
    expect(await expectConsistentNames(storage)).toEqual(['alice', 'carol'])
    expect(await users.find('bob')).toBeUndefined()
  })

  test('that another user has, because its entry was lost, is not freed by a renaming', async () => {
    const storage = await withTwoUsers()
    const { entries, users } = administratorOn(storage)
    const { entries: names } = await entries.list('user-name', { limit: 10 })
    for (const { id, version, value } of names) {
      if ((value as { readonly sub: string }).sub === 'a') await entries.remove('user-name', id, version)
    }
    await users.edit('b', { username: 'alice' })
    await users.edit('a', { username: 'carol' })
    expect(await reasonOf(users.add({ username: 'Alice' }))).toBe('exists')
    expect((await users.find('alice'))?.id).toBe('b')
    expect(await expectConsistentNames(storage)).toEqual(['alice', 'carol'])
  })
})

describe('two administrators at the same time', () => {
  test.each([
    ['generated subs', undefined, undefined],
    ['the same sub', 's', 's'],
    ['different subs', 's', 't'],
  ])('of whom both add one name get one user: %s', async (_, firstSub, secondSub) => {
    for (const seed of seeds) {
      const storage = newStorage()
      const reasons = await together(storage, seed, [add('alice', firstSub), add('Alice', secondSub)])
      expect(reasons.filter((reason) => reason === undefined)).toHaveLength(1)
      expect(reasons).toContain('exists')
      expect(await expectConsistentNames(storage)).toHaveLength(1)
    }
  })

  test.each<[string, readonly Act[]]>([
    ['rename two users to one name', [rename('a', 'carol'), rename('b', 'carol')]],
    ['rename and add', [rename('a', 'carol'), add('carol')]],
    ['exchange names', [rename('a', 'bob'), rename('b', 'alice')]],
    ['rename one user to two names', [rename('a', 'carol'), rename('a', 'dave')]],
    ['rename one user there and back', [rename('a', 'carol'), rename('a', 'alice'), rename('a', 'carol')]],
    ['take the name of a user who is renamed', [rename('a', 'carol'), add('alice'), rename('b', 'alice')]],
    ['take the name of a user who is removed', [remove('a'), add('alice'), rename('b', 'alice')]],
    ['remove and rename', [remove('a'), rename('a', 'carol'), add('carol')]],
  ])('%s: no two users have one name, and none is lost', async (_, acts) => {
    for (const seed of seeds) {
      const storage = await withTwoUsers()
      await together(storage, seed, acts)
      await expectConsistentNames(storage)
    }
  })
})

describe('a process that dies after or before each write', () => {
  /** Lets a process die at each of its writes, and returns what each storage has then. */
  async function* deaths(act: Act) {
    for (const isStored of [true, false]) {
      for (let at = 1; ; at += 1) {
        const storage = await withTwoUsers()
        const driver = dying(storage, at, isStored)
        const failed = await act(administratorOn(driver).users).then(
          () => false,
          () => true,
        )
        if (!failed && driver.writes < at) break
        yield { storage, users: administratorOn(storage).users }
      }
    }
  }

  test('leaves an addition that the next attempt finishes, or finds finished', async () => {
    for await (const { storage, users } of deaths(add('carol', 'c'))) {
      await expectConsistentNames(storage)
      expect([undefined, 'exists']).toContain(await reasonOf(users.add({ sub: 'c', username: 'Carol' })))
      expect((await users.find('carol'))?.id).toBe('c')
      expect(await expectConsistentNames(storage)).toHaveLength(3)
    }
  })

  test('leaves a name that another user can get', async () => {
    for await (const { storage, users } of deaths(add('carol'))) {
      await reasonOf(users.add({ username: 'carol' }))
      expect(await expectConsistentNames(storage)).toEqual(['alice', 'bob', 'carol'])
    }
  })

  test('leaves a renaming that the next attempt finishes, and both names are free for their next users', async () => {
    for await (const { storage, users } of deaths(rename('a', 'carol'))) {
      await expectConsistentNames(storage)
      await users.edit('a', { username: 'carol' })
      await users.edit('b', { username: 'alice' })
      expect(await expectConsistentNames(storage)).toEqual(['alice', 'carol'])
    }
    for await (const { storage, users } of deaths(rename('a', 'carol'))) {
      await reasonOf(users.edit('b', { username: 'carol' }))
      await reasonOf(users.add({ username: 'alice' }))
      expect(await expectConsistentNames(storage)).toEqual(expect.arrayContaining(['alice', 'carol']))
    }
  })

  test('leaves a removal that the next attempt finishes, and the name is free', async () => {
    for await (const { storage, users } of deaths(remove('a'))) {
      await expectConsistentNames(storage)
      expect([undefined, 'not_found']).toContain(await reasonOf(users.remove('a')))
      await users.add({ username: 'alice' })
      expect(await reasonOf(users.add({ sub: 'a', username: 'again' }))).toBe('exists')
      expect(await expectConsistentNames(storage)).toEqual(['alice', 'bob'])
    }
  })
})
