/**
 * Attack: a user service distinguishes `alice` from `álice` or `ALICE`, as most databases do, and registration is open.
 * The limits count all spellings of a name together, so the attacker registers another spelling and, between guesses at
 * the victim, logs in to that account: the login would reset the guesses, or make the address one of the victim's.
 *
 * RFC 6749 section 4.3.2: the server MUST protect the endpoint against brute force.
 */
import { expect, test } from 'vitest'
import { type Fixture, fixture, testUsers, web } from '../support/fixture.ts'
import { address, elsewhere, guess, home, many, right } from '../support/guesses.ts'

/** A user service in which the attacker owns this name, and another user owns `alice`. */
function withSpelling(name: string): Promise<Fixture> {
  const { users, service } = testUsers()
  users[name] = { sub: 'the attacker', password: 'of the attacker', active: true, claims: {} }
  return fixture({ users: service })
}

const ownLogin = (f: Fixture, name: string, from?: string) => guess(f, name, 'of the attacker', from)
const spellings = ['\u00E1lice', 'ALICE', 'ali ce', 'al\u00ADice', 'alice\u0338']

/** The statuses of guesses at alice, each followed by a login of the attacker. */
async function guessesBetweenLogins(f: Fixture, name: string, count: number, from: (index: number) => string) {
  const statuses: number[] = []
  for (let index = 0; index < count; index += 1) {
    statuses.push((await guess(f, 'alice', `guess ${index}`, from(index))).status)
    await ownLogin(f, name, from(index))
  }
  return statuses
}

test.each(spellings)('logins of %j do not reset the guesses at alice', async (name) => {
  const f = await withSpelling(name)
  const statuses = await guessesBetweenLogins(f, name, 8, () => home)
  expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429, 429])
})

test.each(spellings)(
  'logins of %j do not reset the guesses at alice after earlier logins at the same address',
  async (name) => {
    const f = await withSpelling(name)
    for (let login = 0; login < 3; login += 1) expect((await ownLogin(f, name)).status).toBe(200)
    const statuses = await guessesBetweenLogins(f, name, 8, () => home)
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429, 429])
  },
)

test.each(spellings)('logins of %j at many addresses do not make them addresses of alice', async (name) => {
  const f = await withSpelling(name)
  const statuses = await guessesBetweenLogins(f, name, 22, address)
  expect(statuses).toEqual([...Array(20).fill(400), 429, 429])
  expect((await right(f, elsewhere)).status).toBe(429)
})

test('logins under other spellings do not extend the share of one source in the allowance of a client', async () => {
  const { users, service } = testUsers()
  const victims = Array.from({ length: 30 }, (_, index) => `victim${index}`)
  for (const name of victims) {
    users[name] = { sub: name, password: 'unknown to the attacker', active: true, claims: {} }
    users[name.toUpperCase()] = { sub: `not ${name}`, password: 'of the attacker', active: true, claims: {} }
  }
  const f = await fixture({ users: service })
  for (const name of victims) expect((await ownLogin(f, name.toUpperCase())).status).toBe(200)
  const statuses: number[] = []
  for (const name of victims) statuses.push((await guess(f, name, 'wrong')).status)
  expect(statuses).toEqual([...Array(20).fill(400), ...Array(10).fill(429)])
})

test('logins of another spelling without an address do not reset the guesses either', async () => {
  const f = await withSpelling('ALICE')
  const logIn = (username: string, password: string) =>
    f.post('token', { grant_type: 'password', username, password, scope: 'openid' }, web)
  const statuses: number[] = []
  for (let index = 0; index < 22; index += 1) {
    statuses.push((await logIn('alice', `guess ${index}`)).status)
    expect((await logIn('ALICE', 'of the attacker')).status).toBe(200)
  }
  expect(statuses).toEqual([...Array(20).fill(400), 429, 429])
})

test('a user whose name has other spellings still resets own failures with own logins', async () => {
  const f = await withSpelling('ALICE')
  for (let login = 0; login < 3; login += 1) {
    for (let mistake = 0; mistake < 4; mistake += 1) expect((await guess(f, 'alice', 'wrong')).status).toBe(400)
    expect((await right(f)).status).toBe(200)
  }
  await many(20, (index) => guess(f, 'alice', 'wrong', address(index)))
  expect((await right(f)).status).toBe(200)
})
