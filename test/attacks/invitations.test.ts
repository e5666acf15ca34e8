/**
 * Attack: a stranger, or an invited person, gets an account that no administrator has given: by a link that was used,
 * withdrawn, has expired or belongs to another tenant, by two requests at the same moment, with another address, or by
 * guessing. Or signs a visitor in to the own account.
 */
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { invitations } from '../../plugins/self-service/invitations.ts'
import { linkIn, memoryAccounts, setUpAccounts, titleOf } from '../self-service/parties.ts'
import { withLatency } from '../support/latency.ts'

const password = 'correct horse battery'
const address = 'carol@example.com'
const ended = 'This invitation no longer works'

async function open(provider: NonNullable<Parameters<typeof setUpAccounts>[1]>['provider'] = {}, more: object = {}) {
  const f = await setUpAccounts({ signUp: 'invitation', ...more }, { provider })
  const { invite, list, withdraw } = f.provider.use(invitations)
  const invited = async (email = address) => {
    const made = await invite({ email })
    if (typeof made === 'string') throw new Error(made)
    const token = new URL(linkIn(await f.lastMail())).searchParams.get('token') ?? ''
    return { id: made.id, token }
  }
  const url = `${f.provider.issuer}/connect/invitation`
  const post = (token: string, form: Readonly<Record<string, string>> = {}) =>
    f.browser().submit(url, { token, password, ...form })
  const get = (token: string) => f.browser().open(`${url}?${new URLSearchParams({ token })}`)
  return { ...f, list, withdraw, invited, post, get, created: () => f.memory.users.size - 1 }
}

describe('an invitation', () => {
  test('19.21 is not used up by GET requests, such as those of programs that check links', async () => {
    const { invited, get, post, created } = await open()
    const { token } = await invited()
    for (let visit = 0; visit < 3; visit += 1) expect((await get(token)).status).toBe(200)
    expect(created()).toBe(0)
    expect(titleOf(await post(token))).toBe('Your account is ready')
  })

  test('19.21 creates one account, also of 20 POST requests at the same moment', async () => {
    // A store that finds the name free for each of them: only the use of the invitation decides.
    const memory = memoryAccounts()
    const made: string[] = []
    const store = {
      ...memory.store,
      findByName: () => undefined,
      findByEmail: () => undefined,
      async create(account: Parameters<typeof memory.store.create>[0]) {
        made.push(account.username)
        return { sub: `new-${made.length}`, claims: {}, username: account.username, emailVerified: true }
      },
    }
    const { invited, post } = await open({ storage: withLatency(memoryDriver()) }, { store })
    const { token } = await invited()
    const titles = (await Promise.all(Array.from({ length: 20 }, () => post(token)))).map(titleOf)
    expect(made).toHaveLength(1)
    expect(titles.filter((title) => title === 'Your account is ready')).toHaveLength(1)
    expect(titles.filter((title) => title === ended)).toHaveLength(19)
  })

  test('cannot be used again, also after its account was removed', async () => {
    const { invited, post, get, memory } = await open()
    const { token } = await invited()
    await post(token)
    memory.users.delete('new-1')
    expect(titleOf(await get(token))).toBe(ended)
    expect(titleOf(await post(token))).toBe(ended)
    expect(memory.users.size).toBe(1)
  })

  test('creates an account with its own address only', async () => {
    const { invited, post, memory } = await open()
    const { token } = await invited()
    await post(token, { address: 'eve@example.com', email: 'eve@example.com', username: 'eve', sub: 'alice' })
    expect(memory.users.get('new-1')).toMatchObject({ username: address, email: address })
    expect([...memory.users.keys()]).toEqual(['alice', 'new-1'])
  })

  test('that was withdrawn is refused, and withdrawn once', async () => {
    const { invited, post, get, withdraw, list, created } = await open()
    const { id, token } = await invited()
    expect(await withdraw(id)).toBe(true)
    expect([titleOf(await get(token)), titleOf(await post(token))]).toEqual([ended, ended])
    expect(await withdraw(id)).toBe(false)
    expect([created(), (await list()).length]).toEqual([0, 0])
  })

  test('that is withdrawn and accepted at the same moment is either withdrawn or creates an account', async () => {
    for (let round = 0; round < 10; round += 1) {
      const f = await open({ storage: withLatency(memoryDriver()) })
      const { id, token } = await f.invited()
      const [withdrawn, page] = await Promise.all([f.withdraw(id), f.post(token)])
      expect({ withdrawn, created: f.created() }).toEqual(
        titleOf(page) === ended ? { withdrawn: true, created: 0 } : { withdrawn: false, created: 1 },
      )
    }
  })

  test('that is withdrawn, or replaced, while its name turns out to be taken does not open again', async () => {
    for (const end of ['withdrawn', 'replaced']) {
      const memory = memoryAccounts()
      let meanwhile = async (): Promise<unknown> => undefined
      const store = {
        ...memory.store,
        async create(account: Parameters<typeof memory.store.create>[0]) {
          if (account.username !== 'raced') return memory.store.create(account)
          await meanwhile()
          return 'taken' as const
        },
      }
      const { invited, post, withdraw, list } = await open({}, { store, names: 'username' })
      const { id, token } = await invited()
      meanwhile = () => (end === 'withdrawn' ? withdraw(id) : invited())
      expect((await post(token, { username: 'raced' })).html).toContain('taken')
      expect(titleOf(await post(token, { username: 'carol' }))).toBe(ended)
      expect(memory.users.size).toBe(0)
      expect((await list()).map((listed) => listed.id)).not.toContain(id)
    }
  })

  test('that has expired is refused', async () => {
    const { invited, post, clock, created } = await open()
    const { token } = await invited()
    clock.advance(604_800)
    expect(titleOf(await post(token))).toBe(ended)
    expect(created()).toBe(0)
  })

  test('of one tenant is none of another, on the same storage', async () => {
    const storage = memoryDriver()
    const a = await open({ storage, issuer: 'https://a.example.com' })
    const b = await open({ storage, issuer: 'https://b.example.com' })
    const { id, token } = await a.invited()
    expect([titleOf(await b.get(token)), titleOf(await b.post(token))]).toEqual([ended, ended])
    expect([await b.withdraw(id), (await b.list()).length, b.created()]).toEqual([false, 0, 0])
    expect((await a.get(token)).status).toBe(200)
  })

  test('cannot be guessed, also with its id or the secret of another one', async () => {
    const { invited, post, created } = await open()
    const invitation = await invited()
    const otherInvitation = await invited('dave@example.com')
    const [, secret = ''] = otherInvitation.token.split('.')
    const guesses = [
      '',
      '.',
      invitation.id,
      `${invitation.id}.`,
      `${invitation.id}.${secret}`,
      `${invitation.token}x`,
      `${invitation.id}.${'a'.repeat(43)}`,
    ]
    for (const guess of guesses) expect(titleOf(await post(guess))).toBe(ended)
    expect(created()).toBe(0)
  })

  test('is in the storage as a hash', async () => {
    const storage = memoryDriver()
    const seen: string[] = []
    const spy = new Proxy(storage, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver)
        if (typeof value !== 'function') return value
        return (...parameters: unknown[]) => {
          seen.push(JSON.stringify(parameters))
          return value.apply(target, parameters)
        }
      },
    })
    const { invited } = await open({ storage: spy })
    const { token } = await invited()
    expect(seen.join()).toContain(address)
    expect(seen.join()).not.toContain(token.split('.')[1])
  })

  test('begins no session, so that no form of another site signs a visitor in', async () => {
    const { invited, post } = await open()
    const { token } = await invited()
    const page = await post(token)
    expect(titleOf(page)).toBe('Your account is ready')
    expect(page.headers.getSetCookie()).toEqual([])
  })

  test('can be tried 20 times in an hour', async () => {
    const { invited, post, clock } = await open()
    const { token } = await invited()
    for (let attempt = 0; attempt < 20; attempt += 1) await post(token, { password: 'short' })
    expect((await post(token)).html).toContain('too many attempts')
    clock.advance(3600)
    expect(titleOf(await post(token))).toBe('Your account is ready')
  })
})
