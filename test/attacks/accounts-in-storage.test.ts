/**
 * Attack: several visitors prove one address, or choose one name, at the same moment, at two providers on one storage; a
 * user adds an address to the further claims that was never proved; messages of the storage, which contain addresses, get
 * into a log.
 */
import { type Administration, openAdministration, refused } from '@grantry/administration'
import { openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { storedAccounts } from '../../packages/server/src/accounts/stored-accounts.ts'
import { withLatency } from '../support/latency.ts'

const issuer = 'https://id.example.com'
const check = { client: async () => {}, scope: async () => {}, user: async () => {} }

/** A process on the storage. */
function process(storage: ReturnType<typeof withLatency>) {
  const administration = openAdministration({
    entries: openEntries({ issuer, storage }),
    check,
    hashPassword: async (password) => `hash of ${password}`,
    revoke: async () => {},
  })
  return { administration, store: storedAccounts(() => administration) }
}

describe('accounts in the storage', () => {
  test.each([
    ['an address', (index: number) => ({ username: `user${index}`, email: index % 2 ? 'a@b.example' : 'A@B.example' })],
    ['a name', (index: number) => ({ username: index % 2 ? 'alice' : 'ALICE', email: `a${index}@b.example` })],
    ['both', () => ({ username: 'a@b.example', email: 'a@b.example' })],
  ])('at most one of ten has %s, at two providers under latency', async (_, of) => {
    const storage = withLatency(memoryDriver())
    const processes = [process(storage), process(storage)] as const
    const create = async (index: number) =>
      processes[index % 2 ? 0 : 1].store.create({ ...of(index), emailVerified: true, password: `password ${index}` })
    const outcomes = await Promise.all(Array.from({ length: 10 }, (_, index) => create(index).catch(() => 'failed')))
    const created = outcomes.filter((outcome) => typeof outcome === 'object')
    expect(created.length).toBeLessThanOrEqual(1)
  })

  test('that are removed during a read are in its result, and unknown to the next one', async () => {
    const { store, administration } = process(withLatency(memoryDriver()))
    const created = await store.create({ username: 'alice', emailVerified: false, password: 'long enough' })
    const { sub } = created as Exclude<typeof created, 'taken'>
    let calls = 0
    const { users } = administration.as({ who: 'admin' })
    const overtaken = storedAccounts(() => ({
      ...administration,
      as: () => ({
        ...administration.as({ who: 'account' }),
        users: new Proxy(users, {
          get:
            (target, name: keyof typeof users) =>
            async (...values: readonly never[]) => {
              calls += 1
              const result = await (target[name] as (...all: readonly never[]) => Promise<unknown>)(...values)
              if (calls === 1) await users.remove(sub)
              return result
            },
        }),
      }),
    }))
    expect(await overtaken.find(sub)).toMatchObject({ sub })
    expect(await overtaken.find(sub)).toBeUndefined()
    expect(calls).toBe(2)
  })

  test('have not proved an address that was changed', async () => {
    const { store } = process(withLatency(memoryDriver()))
    const created = await store.create({ username: 'alice', email: 'a@b.example', emailVerified: true })
    const { sub } = created as Exclude<typeof created, 'taken'>
    expect(await store.change(sub, { username: 'al' })).toMatchObject({ emailVerified: true })
    expect(await store.change(sub, { email: 'victim@b.example' })).toMatchObject({ emailVerified: false })
    expect(await store.findByEmail('victim@b.example')).toBeUndefined()
  })

  test('cannot have an address in the further claims', async () => {
    const { store } = process(withLatency(memoryDriver()))
    const claims = { email: 'victim@b.example', email_verified: true, nickname: 'al' }
    const created = await store.create({ username: 'alice', emailVerified: false, password: 'long enough', claims })
    expect(created).toMatchObject({ emailVerified: false, claims: { nickname: 'al' } })
    const { sub } = created as Exclude<typeof created, 'taken'>
    const changed = await store.change(sub, { claims })
    const version = expect.any(String)
    expect(changed).toEqual({ sub, username: 'alice', emailVerified: false, claims: { nickname: 'al' }, version })
    expect(await store.findByEmail('victim@b.example')).toBeUndefined()
    const some = await store.change(sub, { someClaims: { email: 'victim@b.example', email_verified: true, name: 'A' } })
    expect(some).toMatchObject({ emailVerified: false, claims: { nickname: 'al', name: 'A' } })
    expect(await store.findByEmail('victim@b.example')).toBeUndefined()
  })

  test('keep a role that an administrator takes away while the user changes the profile', async () => {
    const { store, administration } = process(withLatency(memoryDriver()))
    const created = await store.create({ username: 'alice', emailVerified: false, claims: { roles: ['admin'] } })
    const { sub } = created as Exclude<typeof created, 'taken'>
    const { users } = administration.as({ who: 'admin' })
    const without = () => users.edit(sub, { claims: { roles: [] } })
    const change = async (index: number) => store.change(sub, { someClaims: { name: `A${index}` } })
    // One that is outdated can be sent again.
    await Promise.all([change(1).catch(() => {}), change(2).catch(() => {}), without().catch(without).catch(without)])
    await change(3)
    expect((await store.find(sub))?.claims).toEqual({ roles: [], name: 'A3' })
  })

  test.each(['unreadable', 'outdated', 'invalid'] as const)(
    'do not repeat what the storage says: %s',
    async (reason) => {
      const fail = async () => {
        throw refused(reason, 'others change the mail address victim@b.example at the same time; try again')
      }
      const users = { show: fail, find: fail, findByAddress: fail, add: fail, replace: fail, setPassword: fail }
      const store = storedAccounts(() => ({ as: () => ({ users }) }) as unknown as Administration)
      const calls = [
        store.find('a'),
        store.findByName('victim@b.example'),
        store.findByEmail('victim@b.example'),
        store.create({ username: 'a', email: 'victim@b.example', emailVerified: true }),
        store.change('a', { email: 'victim@b.example' }),
        store.change('a', { password: 'another one' }),
      ]
      for (const call of calls) {
        await expect(call).rejects.toThrow(`The storage has refused a request for an account (${reason})`)
      }
    },
  )
})
