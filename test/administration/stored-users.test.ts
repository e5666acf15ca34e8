// Users in the storage: they sign in, and a change of one counts within 5 seconds, or immediately.
import type { EntryStore } from '@grantry/core'
import { parseConfiguration } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { userSchema } from '../../packages/server/src/configuration/users-schema.ts'
import { request } from '../authorization/parties.ts'
import { setUpSignIn } from '../sign-in/parties.ts'
import { fixture, web } from '../support/fixture.ts'
import { password, quickHash, type StoredUserOptions, withStoredUsers } from './stored-user-setting.ts'

const scope = 'openid profile offline_access api1'

async function open(options?: StoredUserOptions) {
  const f = await withStoredUsers(fixture, options)
  const signIn = (username: string, typed = password) =>
    f.post('token', { grant_type: 'password', username, password: typed, scope }, web)
  const refresh = (token: string) => f.post('token', { grant_type: 'refresh_token', refresh_token: token }, web)
  const userinfo = (token: string) => f.get('userinfo', {}, { authorization: `Bearer ${token}` })
  const isActive = async (token: string) =>
    (await f.post('introspection', { token }, ['api1', 'api1-secret'])).body.active
  const addAlice = (more: object = {}) =>
    f.users.add({ sub: 'a', username: 'Alice', password: quickHash, claims: { name: 'Alice Smith' }, ...more })
  return { ...f, signIn, refresh, userinfo, isActive, addAlice }
}

const hashIn = async ({ get }: Pick<EntryStore, 'get'>): Promise<string> => {
  const { value } = (await get('user', 'a')) as unknown as { value: { user: { password: string } } }
  return value.user.password
}

describe('a stored user', () => {
  test('signs in immediately, by the name in any case and Unicode form, and has its claims', async () => {
    const f = await open()
    expect((await f.signIn('alice')).status).toBe(400)
    await f.addAlice()
    for (const name of ['Alice', 'aLICE', '\uff21lice', 'alice\n', 'al\u00adice', 'alice ']) {
      const { body } = await f.signIn(name)
      expect((await f.userinfo(body.access_token)).body).toEqual({ sub: 'a', name: 'Alice Smith' })
    }
    for (const name of ['\u00e1lice', 'al ice']) expect((await f.signIn(name)).status).toBe(400)
    expect((await f.signIn('alice', `${password} `)).status).toBe(400)
  })

  test('signs in on the pages, and its session ends when it is disabled', async () => {
    const f = await withStoredUsers((options) => setUpSignIn({}, options))
    await f.users.add({ sub: 'a', username: 'alice', password: quickHash })
    const { browser, enter } = await f.start()
    expect((await enter('ALICE', password)).html).toContain('consent')
    const silently = async () =>
      (await browser.open(f.urlOf({ ...request, prompt: 'none' }))).url.searchParams.get('error')
    expect(await silently()).toBe('consent_required')
    await f.users.edit('a', { active: false })
    expect(await silently()).toBe('login_required')
    await f.users.edit('a', { active: true })
    expect(await silently()).toBe('login_required')
  })

  test('is not authenticated for a page of the host when it is disabled', async () => {
    const f = await open()
    await f.addAlice()
    const authenticated = () => f.provider.authenticateUser({ username: 'alice', password }, {})
    expect(await authenticated()).toMatchObject({ sub: 'a' })
    await f.users.edit('a', { active: false })
    expect(await authenticated()).toBeUndefined()
  })

  test('is read once for a request, and not again for 5 seconds', async () => {
    const f = await open()
    await f.addAlice()
    const { body } = await f.signIn('alice')
    expect(f.reads.splice(0)).toEqual(expect.arrayContaining(['user-name', 'user', 'state of user']))
    f.clock.advance(5)
    await f.userinfo(body.access_token)
    expect(f.reads.splice(0)).toEqual(['state of user'])
    f.clock.advance(4)
    await f.userinfo(body.access_token)
    await f.refresh(body.refresh_token)
    expect(f.reads).toEqual([])
  })

  test.each<[string, (f: Awaited<ReturnType<typeof open>>) => Promise<unknown>]>([
    ['disabled', ({ users }) => users.edit('a', { active: false })],
    ['removed', ({ users }) => users.remove('a')],
    ['given another password', ({ users }) => users.setPassword('a', `${password}!`)],
  ])('that is %s has no tokens from this moment', async (_, change) => {
    const f = await open()
    await f.addAlice()
    const { body } = await f.signIn('alice')
    expect(await f.isActive(body.access_token)).toBe(true)
    await change(f)
    expect(await f.isActive(body.access_token)).toBe(false)
    expect((await f.userinfo(body.access_token)).status).toBe(401)
    expect((await f.refresh(body.refresh_token)).body).toMatchObject({ error: 'invalid_grant' })
    expect((await f.signIn('alice')).status).toBe(400)
  })

  test('has the new claims within 5 seconds, and the new name immediately', async () => {
    const f = await open()
    await f.addAlice()
    const { body } = await f.signIn('alice')
    await f.users.edit('a', { username: 'alicia', claims: { name: 'Alicia' } })
    expect([(await f.signIn('alice')).status, (await f.signIn('alicia')).status]).toEqual([400, 200])
    f.clock.advance(5)
    expect((await f.userinfo(body.access_token)).body).toMatchObject({ name: 'Alicia' })
  })

  test('without a password, or with a hash that cannot be checked, does not sign in', async () => {
    const f = await open()
    await f.addAlice({ password: undefined })
    await f.users.add({ sub: 'b', username: 'bob', password: '$md5$abc' })
    expect([(await f.signIn('alice')).status, (await f.signIn('bob')).status]).toEqual([400, 400])
  })
})

describe('a weak hash', () => {
  test('is replaced at a sign-in with the right password, and not by a wrong one', async () => {
    const f = await open()
    await f.addAlice()
    await f.signIn('alice', 'wrong password')
    expect(f.replaced).toEqual([])
    expect((await f.signIn('alice')).status).toBe(200)
    await expect.poll(() => f.replaced.length).toBe(1)
    await Promise.all(f.replaced.splice(0))
    expect(await hashIn(f.entries)).toMatch(/^\$argon2id\$v=19\$m=19456,/u)
    expect((await f.signIn('alice')).status).toBe(200)
    expect(f.replaced).toEqual([])
    expect((await f.users.show('a')).value.claims).toEqual({ name: 'Alice Smith' })
  })

  test('is left when an administrator sets another one at the same moment', async () => {
    let change: () => Promise<unknown> = async () => {}
    const f = await open({
      failing: ({ replace }) => ({
        replace: async (...args) => {
          await change()
          return replace(...args)
        },
      }),
    })
    await f.addAlice()
    change = () => f.users.setPassword('a', `${password}!`)
    expect((await f.signIn('alice')).status).toBe(200)
    await expect.poll(() => f.replaced.length).toBe(1)
    await Promise.all(f.replaced)
    expect([(await f.signIn('alice')).status, (await f.signIn('alice', `${password}!`)).status]).toEqual([400, 200])
  })

  test('that cannot be replaced does not prevent the sign-in', async () => {
    const failing = () => ({ replace: () => Promise.reject(new Error('the storage failed')) })
    const f = await open({ failing })
    await f.addAlice()
    expect((await f.signIn('alice')).status).toBe(200)
    await expect.poll(() => f.replaced.length).toBe(1)
    await Promise.all(f.replaced)
    expect(await hashIn(f.entries)).toBe(quickHash)
  })
})

describe('users of the configuration and of the storage', () => {
  const configured = [
    parseConfiguration(
      userSchema,
      { sub: 'c', username: 'Carol', password: quickHash, claims: { name: 'Carol' } },
      'users[0]',
    ),
  ]

  test('sign in beside each other', async () => {
    const f = await open({ configured })
    await f.addAlice()
    for (const [name, claim] of [
      ['Carol', 'Carol'],
      ['alice', 'Alice Smith'],
    ] as const) {
      const { body } = await f.signIn(name)
      expect((await f.userinfo(body.access_token)).body).toMatchObject({ name: claim })
    }
    expect((await f.signIn('unknown')).status).toBe(400)
  })
})
