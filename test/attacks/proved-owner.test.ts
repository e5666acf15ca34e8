/**
 * Attack: guesses lock the owner of an account out, also after the owner has proved it and chosen a new password. And the
 * reverse: an attacker proves an account of their own, to forget what was counted for that of another user, or in total.
 */
import { isOAuthError, type Provider, type UserCredentials, type UserService } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { invitations } from '../../plugins/self-service/invitations.ts'
import { setUpAccount } from '../account/parties.ts'
import { createBrowser } from '../authorization/browser.ts'
import { aliceAccount, codeIn, linkIn, memoryAccounts, setUpAccounts } from '../self-service/parties.ts'
import { withLatency } from '../support/latency.ts'

const chosen = 'correct horse battery'
const home = '192.0.2.1'
const elsewhere = '198.51.100.7'

function guesses({ authenticateUser }: Pick<Provider, 'authenticateUser'>) {
  const logIn = async (credentials: UserCredentials, clientAddress: string | undefined = home) => {
    try {
      return (await authenticateUser(credentials, { clientAddress }))?.sub ?? 'wrong'
    } catch (error) {
      if (isOAuthError(error)) return error.code
      throw error
    }
  }
  /** Guesses until no more are checked, and returns how many were. */
  async function guess(username: string, from = home, more: Partial<UserCredentials> = {}): Promise<number> {
    for (let count = 0; count < 30; count += 1) {
      if ((await logIn({ username, password: `guess ${count}`, ...more }, from)) !== 'wrong') return count
    }
    return 30
  }
  return { logIn, guess }
}

async function open(...[options, more]: Parameters<typeof setUpAccounts>) {
  const f = await setUpAccounts(options, more)
  async function recover(address = aliceAccount.email, parameters: Record<string, string> = {}) {
    const { ask, browser, submit } = await f.start(parameters, createBrowser(f.provider, home))
    await ask('forgot', address)
    return submit(await browser.open(linkIn(await f.lastMail())), { password: chosen })
  }
  return { ...f, ...guesses(f.provider), recover }
}

describe('an owner who has chosen a new password', () => {
  test('19.11 with a mailed link signs in where guesses had used up the attempts', async () => {
    const { guess, logIn, recover } = await open()
    expect(await guess('alice')).toBe(5)
    expect((await recover()).html).toContain('Signed in as alice')
    expect(await logIn({ username: 'alice', password: chosen })).toBe('alice')
    expect(await logIn({ username: ' alice ', password: chosen })).toBe('alice')
  })

  test('with a mailed code signs in', async () => {
    const { guess, logIn, start, lastMail } = await open()
    await guess('alice')
    const { ask, submit } = await start()
    const page = await submit(await ask('forgot', aliceAccount.email), { code: codeIn(await lastMail()) })
    await submit(page, { password: chosen })
    expect(await logIn({ username: 'alice', password: chosen })).toBe('alice')
  })

  test('signs in where guesses had used up those of a known address, also at another process', async () => {
    const storage = withLatency(memoryDriver())
    const first = await open({}, { provider: { storage } })
    const second = await open({}, { provider: { storage, runtime: { now: first.clock.now } } })
    expect(await first.logIn({ username: 'alice', password: aliceAccount.password })).toBe('alice')
    expect([await first.guess('alice'), await second.guess('alice')]).toEqual([5, 0])
    await first.recover()
    second.memory.users.set('alice', { ...aliceAccount, claims: {}, password: chosen })
    expect(await second.logIn({ username: 'alice', password: chosen })).toBe('alice')
    expect(await first.logIn({ username: 'alice', password: chosen })).toBe('alice')
  })

  test('signs in while many addresses guess, where the account was proved', async () => {
    const { guess, logIn, recover } = await open()
    for (let host = 1; host <= 4; host += 1) expect(await guess('alice', `203.0.113.${host}`)).toBe(5)
    expect(await guess('alice', '203.0.113.9')).toBe(0)
    await recover()
    expect(await logIn({ username: 'alice', password: chosen })).toBe('alice')
    expect(await logIn({ username: 'alice', password: chosen }, elsewhere)).toBe('slow_down')
  })

  test('signs in with the address, if the user service accepts it, and with the name in lower case', async () => {
    const memory = memoryAccounts([{ ...aliceAccount, username: 'Alice' }])
    const authenticate: UserService['authenticate'] = async ({ username, password }) => {
      const byEmail = await memory.store.findByEmail(username)
      return memory.authenticate({ username: byEmail?.username ?? username, password })
    }
    const { guess, logIn, recover } = await open({ store: memory.store }, { provider: { users: { authenticate } } })
    const names = ['alice', 'Alice', aliceAccount.email]
    for (const name of names) await guess(name)
    await recover()
    for (const username of names) expect(await logIn({ username, password: chosen })).toBe('alice')
  })

  test('in a tenant signs in there', async () => {
    const memory = memoryAccounts([aliceAccount])
    const authenticate: UserService['authenticate'] = ({ tenant, ...credentials }) =>
      tenant === 'acme' ? memory.authenticate(credentials) : undefined
    const { guess, logIn, recover } = await open({ store: memory.store }, { provider: { users: { authenticate } } })
    expect(await guess('alice', home, { tenant: 'acme' })).toBe(5)
    await recover(aliceAccount.email, { acr_values: 'tenant:acme' })
    expect(await logIn({ username: 'alice', password: chosen, tenant: 'acme' })).toBe('alice')
  })

  test('on the account page signs in again', async () => {
    const { store, authenticate } = memoryAccounts([aliceAccount])
    const account = { accounts: store, mailer: { send: () => {} }, passwords: {} }
    const f = await setUpAccount({ account, provider: { users: { authenticate, claims: () => ({}) } } })
    const { guess, logIn } = guesses(f.provider)
    const { browser } = await f.signedIn()
    expect(await guess('alice')).toBe(5)
    await f.send(browser, await browser.open('https://id.example.com/account/password'), { password: chosen })
    expect(await logIn({ username: 'alice', password: chosen })).toBe('alice')
  })

  test('for a new account signs in, although its name was guessed at before', async () => {
    const { guess, logIn, start, lastMail } = await open({ signUp: 'open', names: 'username' })
    await guess('carol')
    const { ask, submit } = await start()
    const page = await submit(await ask('create', 'carol@example.com'), { code: codeIn(await lastMail()) })
    await submit(page, { username: 'carol', password: chosen })
    expect(await logIn({ username: 'carol', password: chosen })).toBe('new-1')
  })

  test('with an invitation signs in, although its address was guessed at before', async () => {
    const { guess, logIn, browser, lastMail, provider } = await open({ signUp: 'invitation' })
    await provider.use(invitations).invite({ email: 'carol@example.com' })
    await guess('carol@example.com')
    const guest = browser()
    const page = await guest.open(linkIn(await lastMail()))
    const token = page.url.searchParams.get('token') ?? ''
    await guest.submit(`${page.url.origin}${page.url.pathname}`, { token, password: chosen })
    expect(await logIn({ username: 'carol@example.com', password: chosen })).toBe('new-1')
  })

  test('has the new password also if the user service fails then', async () => {
    let fails = false
    const memory = memoryAccounts([aliceAccount])
    const authenticate: UserService['authenticate'] = (credentials) => {
      if (fails) throw new Error('The database is down')
      return memory.authenticate(credentials)
    }
    const { recover, events } = await open({ store: memory.store }, { provider: { users: { authenticate } } })
    fails = true
    expect((await recover()).html).toContain('Signed in as alice')
    expect(memory.users.get('alice')?.password).toBe(chosen)
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'unhandled_failure', reason: 'address_not_remembered' }),
    )
    expect(JSON.stringify(events)).not.toContain(chosen)
  })
})

describe('an attacker who proves another account', () => {
  const mallory = { ...aliceAccount, sub: 'mallory', username: 'mallory', email: 'mallory@example.com' }
  const right = aliceAccount.password
  const openWith = (
    attacker: Partial<typeof mallory> = {},
    victim: Partial<typeof mallory> = {},
    users?: UserService,
  ) => {
    const memory = memoryAccounts([
      { ...aliceAccount, ...victim },
      { ...mallory, ...attacker },
    ])
    return open({ store: memory.store }, { provider: { users: users ?? { authenticate: memory.authenticate } } })
  }

  test.each<[string, Partial<typeof mallory>, Partial<typeof mallory>]>([
    ['a name of its own', {}, {}],
    ['a name that counts as that of the other', { username: 'álice' }, {}],
    ['the same, in lower case that of the other for some', { username: 'Álice' }, { username: 'álice' }],
    ['the name of the other as address', {}, { username: mallory.email }],
    ['the same, and the password of the other', {}, { username: mallory.email, password: chosen }],
  ])('with %s does not forget the guesses at the other', async (_, attacker, victim) => {
    const { guess, logIn, recover } = await openWith(attacker, victim)
    const { username } = { ...aliceAccount, ...victim }
    expect(await guess(username)).toBe(5)
    for (let again = 0; again < 3; again += 1) {
      expect((await recover(mallory.email)).html).toContain('Signed in as')
      expect(await guess(username)).toBe(0)
      expect(await logIn({ username, password: victim.password ?? right })).toBe('slow_down')
    }
  })

  test('19.11 in a request for another tenant does not forget the guesses at a user of that tenant', async () => {
    const { guess, recover } = await openWith(
      {},
      {},
      {
        authenticate: ({ tenant, password }) =>
          tenant === undefined && password === chosen ? { sub: 'mallory' } : undefined,
      },
    )
    const tenant = { tenant: 'other' }
    expect(await guess('mallory', home, tenant)).toBe(5)
    expect((await recover(mallory.email, { acr_values: 'tenant:other' })).html).toContain('Signed in as')
    expect(await guess('mallory', home, tenant)).toBe(0)
  })

  test('does not forget what was counted for the network or in total', async () => {
    const { guess, logIn, recover } = await openWith()
    for (let name = 1; name <= 4; name += 1) expect(await guess(`user ${name}`)).toBe(5)
    await recover(mallory.email)
    expect(await logIn({ username: 'alice', password: right })).toBe('slow_down')
    for (let host = 1; host <= 16; host += 1) expect(await guess(`user ${host}`, `203.0.113.${host}`)).toBe(5)
    expect(await logIn({ username: 'alice', password: right }, elsewhere)).toBe('slow_down')
    await recover(mallory.email)
    expect(await logIn({ username: 'alice', password: right }, elsewhere)).toBe('slow_down')
  })

  test('gets five guesses at the address where the owner has proved the account', async () => {
    const { guess, logIn, recover } = await open()
    await recover()
    expect(await guess('alice')).toBe(5)
    expect(await guess('alice')).toBe(0)
    expect(await logIn({ username: 'alice', password: chosen })).toBe('slow_down')
  })
})
