// The storage operations of a login, in order. Each string is a trip, with its commands: a driver can perform all reads
// of one turn of the event loop with one command, and send it together with the writes.
import type { AtomicDriver } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'
import { guess, home } from '../support/guesses.ts'

/** A driver that responds in the next turn of the event loop, and the trips so far. */
function recorded() {
  const trips: string[] = []
  const store = memoryDriver()
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  let trip: { readonly reads: string[]; readonly writes: string[] } | undefined
  const kindOf = (key: string): string => key.slice(0, key.indexOf(':'))
  const kindsOf = (name: string, keys: readonly string[]): string =>
    keys.length === 0 ? '' : ` ${name} ${keys.map(kindOf).join(', ')}`
  function current() {
    if (trip !== undefined) return trip
    const begun = { reads: [], writes: [] }
    setImmediate(() => {
      trips.push([kindsOf('read', begun.reads).trim(), ...begun.writes].filter(Boolean).join('; '))
      trip = undefined
    })
    trip = begun
    return begun
  }
  const written = async <T>(command: string, act: () => T): Promise<T> => {
    current().writes.push(command)
    await turn()
    return act()
  }
  const driver: AtomicDriver = {
    async getItem(key) {
      current().reads.push(key)
      await turn()
      return store.getItem(key)
    },
    setItem: (key, value, options) => written(`put ${kindOf(key)}`, () => store.setItem(key, value, options)),
    removeItem: (key) => written(`remove ${kindOf(key)}`, () => store.removeItem(key)),
    insertItem: (key, value, options) => written(`create ${kindOf(key)}`, () => store.insertItem(key, value, options)),
    incrementItem: (key, options) => written(`increment ${kindOf(key)}`, () => store.incrementItem(key, options)),
    commit(changes) {
      const { create, put, remove } = changes
      const keysOf = (items: readonly { readonly key: string }[]) => items.map(({ key }) => key)
      const parts = [kindsOf('create', keysOf(create)), kindsOf('put', keysOf(put)), kindsOf('remove', remove)]
      return written(`commit${parts.join('')}`, () => store.commit(changes))
    },
  }
  return { driver, store, trips }
}

async function started() {
  const { driver, store, trips } = recorded()
  const f = await fixture({ storage: driver })
  const elsewhere = await fixture({ storage: store, runtime: { now: f.clock.now } })
  const logIn = async (username: string, from: string | undefined, password = `${username}-password`) => {
    trips.length = 0
    await f.post('token', { grant_type: 'password', username, password, scope: 'api1' }, web, from)
    return [...trips]
  }
  // The first authorization of a provider creates the revision.
  await logIn('bob', home)
  /** A login at another provider with the same storage. */
  const logInElsewhere = (password: string) => guess(elsewhere, 'alice', password)
  return { logIn, logInElsewhere, advance: f.clock.advance }
}

const reads = 'read known, failure, failure, failure, failure, failure'
/** After a login through this process. */
const remembered = 'read known, failure'
const marks = 'read revision, epoch, epoch'

test('a login from a new address, and one from a known address', async () => {
  const { logIn } = await started()
  expect(await logIn('alice', home)).toEqual([
    reads,
    'commit create failure, failure',
    'read revision, epoch, epoch, failure, failure',
    'commit put known remove failure, failure',
    'put access',
  ])
  expect(await logIn('alice', home)).toEqual([
    `${remembered}; create failure`,
    `${marks}; remove failure`,
    'put access',
  ])
})

test('a login without an address', async () => {
  const { logIn } = await started()
  const readsOfUser = 'read known, failure, failure, failure'
  expect(await logIn('alice', undefined)).toEqual([
    readsOfUser,
    'create failure',
    'read revision, epoch, epoch, failure',
    'commit put known remove failure',
    'put access',
  ])
  expect(await logIn('alice', undefined)).toEqual([
    readsOfUser,
    'create failure',
    'read revision, epoch, epoch, failure; remove failure',
    'put access',
  ])
})

test('a wrong password, and a login that forgets it', async () => {
  const { logIn } = await started()
  await logIn('alice', home)
  expect(await logIn('alice', home, 'wrong')).toEqual([`${remembered}; create failure`, 'commit put failure, failure'])
  expect(await logIn('alice', home)).toEqual([
    reads,
    'create failure',
    `${marks}; commit put failure remove failure`,
    'put access',
  ])
  expect(await logIn('alice', home)).toEqual([
    `${remembered}; create failure`,
    `${marks}; remove failure`,
    'put access',
  ])
})

test('a login that remembers an outdated state', async () => {
  const { logIn, logInElsewhere, advance } = await started()
  await logIn('alice', home)
  await logInElsewhere('wrong')
  expect(await logIn('alice', home)).toEqual([
    `${remembered}; create failure`,
    // Whether the existing record is its own.
    'read failure',
    reads,
    'create failure',
    `${marks}; commit put failure remove failure`,
    'put access',
  ])
  for (let failure = 0; failure < 5; failure += 1) await logInElsewhere('wrong')
  expect(await logIn('alice', home)).toEqual([`${remembered}; create failure`, 'read failure', reads])
  expect(await logIn('alice', home)).toEqual([reads])
  // The address is forgotten.
  await logIn('bob', home)
  advance(31 * 86_400)
  expect((await logIn('bob', home)).slice(0, 4)).toEqual([
    `${remembered}; create failure`,
    'remove failure',
    reads,
    'commit create failure, failure',
  ])
})

test('an attempt that has to wait takes one command', async () => {
  const { logIn } = await started()
  for (let failure = 0; failure < 5; failure += 1) await logIn('alice', home, 'wrong')
  expect(await logIn('alice', home)).toEqual([reads])
})
