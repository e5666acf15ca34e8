/**
 * Attack: an administrator changes something to shut a thief out, the storage fails in the middle, and the administrator repeats
 * the change. It was written at the first time, and the second one finds nothing to do: the refresh token of the thief lives on.
 */
import { openAdministration, type UserManager } from '@grantry/administration'
import { type AtomicDriver, type EntryStore, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'

const accepted = async (): Promise<void> => {}
const next = 'another hash'

/** A storage whose writes fail, before or after they act, from the one with a number until `repair()`. */
function failing(driver: AtomicDriver) {
  let left = Number.POSITIVE_INFINITY
  let actsFirst = false
  const { commit, replaceItem } = driver
  async function attempt<T>(write: () => T): Promise<Awaited<T>> {
    left -= 1
    if (left > 0) return await write()
    if (left === 0 && actsFirst) await write()
    throw new Error('The storage has failed')
  }
  return {
    storage: {
      ...driver,
      insertItem: (key, value, options) => attempt(() => driver.insertItem(key, value, options)),
      setItem: (key, value, options) => attempt(() => driver.setItem?.(key, value, options)),
      ...(replaceItem !== undefined && { replaceItem: (key, change) => attempt(() => replaceItem(key, change)) }),
      ...(commit !== undefined && { commit: (changes) => attempt(() => commit(changes)) }),
    } satisfies AtomicDriver,
    failAt(number: number, isWritten: boolean) {
      left = number
      actsFirst = isWritten
    },
    repair() {
      const isOver = left > 0
      left = Number.POSITIVE_INFINITY
      return isOver
    },
  }
}

async function setting() {
  const { storage, ...faults } = failing(memoryDriver())
  const f = await fixture({ storage })
  const entries: EntryStore = openEntries({ issuer: 'https://id.example.com', storage })
  const { users } = openAdministration({
    entries,
    check: { client: accepted, scope: accepted, user: accepted },
    hashPassword: async () => next,
    revoke: f.provider.revoke,
    now: () => f.clock.now() * 1000,
  }).as({ who: 'admin' })
  await users.add({ sub: '1', username: 'alice', password: 'a hash' })
  const form = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'openid offline_access' }
  const signIn = async () => String((await f.post('token', form, web)).body.refresh_token)
  return { f, faults, users, signIn, token: await signIn() }
}

const changes: Readonly<Record<string, (users: UserManager) => Promise<unknown>>> = {
  'a password that is set': (users) => users.setPassword('1', 'a long password'),
  'a hash in an edit': (users) => users.edit('1', { password: next }),
  'a user who is disabled': (users) => users.edit('1', { active: false }),
  'a user who is removed': (users) => users.remove('1'),
}

describe.each([false, true])('the failing write acts: %s', (isWritten) => {
  test.each(Object.keys(changes))('%s ends what was issued when it is repeated after a failure', async (name) => {
    const change = changes[name] as (users: UserManager) => Promise<unknown>
    let number = 1
    for (let isOver = false; !isOver; number += 1) {
      const { f, faults, users, signIn, token } = await setting()
      faults.failAt(number, isWritten)
      const first = await change(users).then(
        () => 'done',
        () => 'failed',
      )
      isOver = faults.repair()
      const tokens = [token]
      // A sign-in that began with the old password: it may end between the revocation and its repetition.
      if (first === 'failed' && !name.includes('removed')) tokens.push(await signIn())
      // A removal that has succeeded finds no user any more.
      if (first === 'failed') await change(users).catch(() => expect(name).toContain('removed'))
      for (const refresh_token of tokens) {
        const { status } = await f.post('token', { grant_type: 'refresh_token', refresh_token }, web)
        expect([number, first, status]).toEqual([number, first, 400])
      }
    }
    expect(number).toBeGreaterThan(5)
  })
})
