/**
 * Attack: one account logs in a few hundred times concurrently, with its right password. Its attempts wait for each
 * other, and together they take every slot for password attempts: all other users get 503 for the duration of the
 * attack.
 *
 * RFC 6749 section 10 has no rule for this; decision 32 limits what one caller takes of a host function.
 */
import type { UserService } from '@grantry/core'
import { expect, test } from 'vitest'
import { fixture, testUsers, web } from '../support/fixture.ts'
import { address, elsewhere, home } from '../support/guesses.ts'

/** A user service whose calls for bob wait until they are released. */
function slowForBob() {
  const { service } = testUsers()
  const waiting: (() => void)[] = []
  const state = { open: false }
  const users: UserService = {
    ...service,
    async authenticate(credentials, client) {
      if (credentials.username === 'bob' && !state.open) await new Promise<void>((resolve) => waiting.push(resolve))
      return service.authenticate?.(credentials, client)
    },
  }
  const letGo = (): void => {
    state.open = true
    for (const resolve of waiting.splice(0)) resolve()
  }
  return { users, letGo }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test.each([
  ['one address', () => home],
  ['an IPv6 network', (index: number) => `2001:db8:1:2::${index.toString(16)}`],
  ['no known address', () => undefined],
] as const)('one account from %s leaves half of the slots to others', async (_, from) => {
  const { users, letGo } = slowForBob()
  const f = await fixture({ users, maxHostCalls: 50, hostTimeLimit: 60 })
  const logIn = (username: string, at?: string) =>
    f.post('token', { grant_type: 'password', username, password: `${username}-password`, scope: 'api1' }, web, at)
  const flood = Array.from({ length: 250 }, (_value, index) => logIn('bob', from(index)))
  await turn()
  expect((await logIn('alice', elsewhere)).status).toBe(200)
  // Also to its owner at another address.
  const elsewhereBob = logIn('bob', address(1))
  letGo()
  const statuses = (await Promise.all(flood)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(100)
  expect(statuses.filter((status) => status === 503)).toHaveLength(150)
  expect((await elsewhereBob).status).toBe(200)
  expect((await logIn('bob', from(0))).status).toBe(200)
})
