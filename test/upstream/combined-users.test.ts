import type { FoundUser, Provider, UserService } from '@grantry/core'
import { combinedUsers, type UserSource, upstreamUsers } from '@grantry/plugins/upstream'
import { describe, expect, test } from 'vitest'
import { setUpUpstream } from './parties.ts'

interface PlaceUser {
  readonly password?: string
  readonly active?: boolean
  readonly claims?: Readonly<Record<string, string>>
}

/** A place with users by their `sub`, which is their name, too. Notes what it is asked. */
function place(users: Readonly<Record<string, PlaceUser>>, more: Partial<UserSource> = {}) {
  const asked: string[] = []
  const usersOf = (sub: string): readonly FoundUser[] => {
    const user = users[sub]
    return user === undefined ? [] : [{ sub, username: sub, active: user.active !== false, claims: user.claims ?? {} }]
  }
  const source: UserSource = {
    authenticate: ({ username, password }) =>
      users[username]?.password === password && users[username]?.active !== false ? { sub: username } : undefined,
    isActive(sub) {
      asked.push(`isActive ${sub}`)
      return usersOf(sub)[0]?.active === true
    },
    claims: (sub) => users[sub]?.claims ?? {},
    find(sub) {
      asked.push(`find ${sub}`)
      return usersOf(sub)
    },
    ...more,
  }
  return { source, asked }
}

const table = () =>
  place({
    ann: { password: 'a', claims: { name: 'Ann' } },
    gone: { password: 'g', active: false },
    both: { password: 'table', claims: { name: 'Of the table' } },
  })
const directory = () =>
  place({
    dan: { password: 'd', claims: { name: 'Dan' } },
    gone: { password: 'other', claims: { name: 'Gone' } },
    both: { password: 'directory', claims: { name: 'Of the directory' } },
  })

describe('combinedUsers()', () => {
  test.each<readonly [string, string, string, string | undefined]>([
    ['a user of the first place', 'ann', 'a', 'ann'],
    ['a user of the second place', 'dan', 'd', 'dan'],
    ['a wrong password', 'dan', 'x', undefined],
    ['an unknown user', 'eve', 'x', undefined],
    ['a user with an id of the first place, who was deactivated there', 'gone', 'other', undefined],
    ['a user with an id of the first place', 'both', 'directory', undefined],
  ])('authenticates or refuses %s', async (_name, username, password, sub) => {
    const users = combinedUsers([table().source, directory().source])
    expect(await users.authenticate?.({ username, password })).toEqual(sub === undefined ? undefined : { sub })
  })

  test.each<readonly [string, boolean, object]>([
    ['ann', true, { name: 'Ann' }],
    ['dan', true, { name: 'Dan' }],
    ['gone', false, { name: 'Gone' }],
    ['both', true, { name: 'Of the table' }],
    ['eve', false, {}],
  ])('answers for %s by the first place that knows the id', async (sub, isActive, claims) => {
    const users = combinedUsers([table().source, directory().source])
    expect(await users.isActive(sub)).toBe(isActive)
    expect(await users.claims(sub, ['name'])).toEqual(claims)
    expect((await users.find(sub)).length).toBeLessThanOrEqual(1)
  })

  test('asks one question for a user of the first place', async () => {
    const { source, asked } = table()
    await combinedUsers([source, directory().source]).isActive('ann')
    expect(asked).toEqual(['isActive ann'])
  })

  test('has no sign-in by password if no place has one', () => {
    expect(combinedUsers([place({}, { authenticate: undefined }).source]).authenticate).toBeUndefined()
  })

  test('refuses a place that cannot distinguish a deactivated user from an unknown one', () => {
    const incomplete = { authenticate: () => undefined, isActive: () => false } satisfies UserService
    expect(() => combinedUsers([table().source, incomplete as never])).toThrow(
      /^combinedUsers\(\): place 1 needs isActive and find/u,
    )
  })

  test('lets an outage of a place through, and takes no user for unknown', async () => {
    const down = place({}, { find: () => Promise.reject(new Error('down')) })
    const users = combinedUsers([down.source, directory().source])
    await expect(users.isActive('dan')).rejects.toThrow('down')
  })
})

describe('combinedUsers() with the provider', () => {
  async function setUp(users: Readonly<Record<string, PlaceUser>> = {}) {
    let provider: Provider
    const f = await setUpUpstream({
      double: { claims: { name: 'Alice of Acme' } },
      more: {
        scopes: [{ name: 'profile', identity: true, claims: ['name'] }, { name: 'api1' }],
        users: combinedUsers([place(users).source], () => provider),
      },
    })
    provider = f.provider
    return f
  }

  // Without it, the user came back to the page of the sign-in, because a table knows no such user.
  test('signs in a user of another provider whom no place knows', async () => {
    const f = await setUp()
    const { body, claims } = await f.claimsAfter({ scope: 'openid profile' })
    const headers = { authorization: `Bearer ${body.access_token}` }
    const response = await f.provider.fetch(new Request(`${f.provider.issuer}/connect/userinfo`, { headers }))
    expect(await response.json()).toEqual({ sub: claims?.sub, name: 'Alice of Acme' })
    expect((await f.provider.use(upstreamUsers).find(String(claims?.sub)))?.claims).toEqual({ name: 'Alice of Acme' })
  })

  test('refuses one whom a place has deactivated', async () => {
    const users: Record<string, PlaceUser> = {}
    const f = await setUp(users)
    const sub = String((await f.claimsAfter()).claims?.sub)
    users[sub] = { active: false }
    expect((await f.comeBack(await f.leave())).html).toContain('"problem":"provider_not_active"')
  })
})
