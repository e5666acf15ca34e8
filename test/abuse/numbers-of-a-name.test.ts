// A process draws numbers under a name before it reads that the account is known at the address since another process has
// logged it in. The attempt then counts for the account only.
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'
import { address, guess, right } from '../support/guesses.ts'

test('a login from an address that another process made known leaves all guesses elsewhere', async () => {
  let isDown = true
  const users = {
    async authenticate({ username, password }: { readonly username: string; readonly password: string }) {
      if (isDown) throw new Error('connection lost')
      return password === `${username}-password` ? { sub: username } : undefined
    },
  }
  const storage = memoryDriver()
  const abuseControl = { passwords: { perUser: { failures: 2, window: 600 } } }
  const f = await fixture({ users, storage, abuseControl })
  // Remembers that the account is not known.
  expect((await right(f)).status).toBe(500)
  isDown = false
  const otherProcess = await fixture({ users, storage, abuseControl, runtime: { now: f.clock.now } })
  expect((await right(otherProcess)).status).toBe(200)
  expect((await right(f)).status).toBe(200)
  const guesses = [1, 2, 3].map((index) => () => guess(f, 'alice', 'wrong', address(index)))
  const statuses: number[] = []
  for (const next of guesses) statuses.push((await next()).status)
  expect(statuses).toEqual([400, 400, 429])
})
