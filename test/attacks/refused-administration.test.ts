/**
 * Attack: what was issued outlives a change, or ends without one. Someone who may add clients ends the tokens of another
 * client, without a trace, by a request that is refused. Someone who is shut out keeps the tokens, because the storage
 * failed, or the process died, in the middle of the change, and the repeated change finds nothing to do.
 */
import { openAdministration, type UserManager } from '@grantry/administration'
import type { RevocationTarget } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { batch, setting } from '../admin-api/setting.ts'
import { quickHash, password as right, withStoredUsers } from '../administration/stored-user-setting.ts'
import { api1, fixture, web } from '../support/fixture.ts'

describe('a client whose id someone tries to add', () => {
  test('keeps its tokens, because the request is refused, and no change is recorded', async () => {
    const { send, post, trail } = await setting()
    const { body: added } = await send('POST', '/clients', { body: batch })
    const { body } = await post('token', { grant_type: 'client_credentials', scope: 'api1' }, ['batch', added.secret])
    const isActive = async () => (await post('introspection', { token: body.access_token }, api1)).body.active
    expect(await isActive()).toBe(true)
    expect((await send('POST', '/clients', { body: batch })).status).toBe(409)
    expect((await trail()).map(({ action }) => action)).toEqual(['client_added'])
    expect(await isActive()).toBe(true)
  })
})

test('an id that nothing was issued to is refused before it is recorded', async () => {
  const { send, trail } = await setting()
  for (const path of ['users', 'clients']) {
    const { status } = await send('POST', `/${path}/${'x'.repeat(1900)}/revoke`, { body: {} })
    expect(status).toBe(404)
  }
  expect(await trail()).toEqual([])
})

/** A user with tokens, and an administrator one of whose revocations fails. */
async function signedIn(failing: number) {
  const f = await withStoredUsers(fixture)
  await f.users.add({ sub: 'a', username: 'alice', password: quickHash })
  const form = { grant_type: 'password', username: 'alice', password: right, scope: 'openid offline_access api1' }
  let { body } = await f.post('token', form, web)
  const signIn = async () => {
    ;({ body } = await f.post('token', form, web))
  }
  let attempts = 0
  const administration = openAdministration({
    entries: f.entries,
    check: { client: async () => {}, scope: async () => {}, user: async () => {} },
    hashPassword: async () => quickHash,
    revoke: async (target: RevocationTarget) => {
      attempts += 1
      if (attempts === failing) throw new Error('the storage failed')
      await f.provider.revoke(target)
    },
  })
  const { users } = administration.as({ who: 'alice' })
  const isActive = async () => (await f.post('introspection', { token: body.access_token }, api1)).body.active
  const refresh = async () =>
    (await f.post('token', { grant_type: 'refresh_token', refresh_token: body.refresh_token }, web)).status
  return { users, signIn, isActive, refresh }
}

describe('a user who is shut out while the storage fails', () => {
  test.each<[string, (users: UserManager) => Promise<unknown>]>([
    ['disabled', (users) => users.edit('a', { active: false })],
    ['removed', (users) => users.remove('a')],
    ['given another password', (users) => users.setPassword('a', `${right}!`)],
  ])('has no tokens when the administrator has repeated it: %s', async (_, change) => {
    const f = await signedIn(1)
    await expect(change(f.users)).rejects.toThrow('the storage failed')
    await change(f.users)
    expect(await f.isActive()).toBe(false)
    expect(await f.refresh()).toBe(400)
  })

  // Someone signs in with the old password between the first revocation and the change, and the second one fails.
  test('has no tokens of a sign-in during a change of the password that is repeated', async () => {
    const f = await signedIn(2)
    await expect(f.users.setPassword('a', `${right}!`)).rejects.toThrow('the storage failed')
    await f.signIn()
    expect(await f.isActive()).toBe(true)
    await f.users.setPassword('a', `${right}!`)
    expect(await f.isActive()).toBe(false)
    expect(await f.refresh()).toBe(400)
  })
})
