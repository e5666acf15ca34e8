/**
 * Attack: an attacker owns a user with the same name in another tenant, and uses its logins to reset the guesses at the
 * other user. If a user service uses another directory for each `tenant:` or `idp:`, a tenant of the attacker may contain
 * a user with the same name.
 */
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, web } from '../support/fixture.ts'
import { address, elsewhere, home, many } from '../support/guesses.ts'

describe('a user with the same name in a tenant of the attacker', () => {
  const tenants = {
    users: {
      authenticate: ({ tenant, password }: { readonly tenant?: string | undefined; readonly password: string }) =>
        password === `password of ${tenant ?? 'none'}` ? { sub: `alice of ${tenant ?? 'none'}` } : undefined,
    },
  }
  const logIn = (f: Fixture, tenant: string | undefined, password: string, from = home, username = 'alice') => {
    const acr = tenant === undefined ? {} : { acr_values: `tenant:${tenant}` }
    return f.post('token', { grant_type: 'password', username, password, scope: 'openid', ...acr }, web, from)
  }

  test.each([['evil'], [undefined]])(
    'does not reset the guesses at the other user by logins in the tenant %j',
    async (tenant) => {
      const f = await fixture(tenants)
      const statuses: number[] = []
      for (let guessed = 0; guessed < 8; guessed += 1) {
        statuses.push((await logIn(f, 'victim', `guess ${guessed}`)).status)
        await logIn(f, tenant, `password of ${tenant ?? 'none'}`)
      }
      expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429, 429])
    },
  )

  test('does not reset them with a name that looks like the key of the counter', async () => {
    const f = await fixture(tenants)
    const statuses: number[] = []
    for (let guessed = 0; guessed < 22; guessed += 1) {
      statuses.push((await logIn(f, 'victim', 'a guess', address(3 * guessed))).status)
      await logIn(f, undefined, 'password of none', address(3 * guessed + 1))
      await logIn(f, undefined, 'password of none', address(3 * guessed + 2), '["in a directory","alice"]')
    }
    expect(statuses).toEqual([...Array(20).fill(400), 429, 429])
  })

  test('does not make an address one of the other user', async () => {
    const f = await fixture(tenants)
    expect((await logIn(f, 'evil', 'password of evil', elsewhere)).status).toBe(200)
    await many(20, (index) => logIn(f, 'victim', 'wrong', address(index)))
    expect((await logIn(f, 'victim', 'password of victim', elsewhere)).status).toBe(429)
  })

  test('a user has no more guesses in many tenants than in one', async () => {
    const f = await fixture(tenants)
    const statuses: number[] = []
    for (let guessed = 0; guessed < 8; guessed += 1)
      statuses.push((await logIn(f, guessed % 2 === 0 ? `tenant ${guessed}` : undefined, 'guess')).status)
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429, 429])
  })

  test('a user who has logged in in a tenant forgets the own mistakes there with each login', async () => {
    const f = await fixture(tenants)
    for (let login = 0; login < 3; login += 1) {
      for (let mistake = 0; mistake < 4; mistake += 1) expect((await logIn(f, 'victim', 'a mistake')).status).toBe(400)
      expect((await logIn(f, 'victim', 'password of victim')).status).toBe(200)
    }
  })
})
