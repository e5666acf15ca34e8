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
    replaceItem: (key, change) => written(`replace ${kindOf(key)}`, () => store.replaceItem(key, change)),
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
  return { logIn, logInElsewhere }
}

const marks = 'read revision, epoch, epoch'
/** The trip of an attempt at a known address, and the commit of its tokens. */
const attempt = 'read known, passed, failure; increment count'
const tokens = 'commit put access remove count'
/** The trip of an attempt from a new address: two markers of the client and two counters. */
const fromNewAddress =
  'read known, passed, failure, passed, failure, failure, failure; increment count; increment count'
const firstTokens = 'commit put access, known, passed, passed remove count'

test('a login from a known address takes two trips, one for the attempt and one for the tokens', async () => {
  const { logIn } = await started()
  await logIn('alice', home)
  for (let login = 0; login < 7; login += 1)
    expect(await logIn('alice', home)).toEqual([attempt.replace('read', `${marks},`), tokens])
})

test('the first login through a process from a known address reads the mark for the tokens later', async () => {
  const { logIn, logInElsewhere } = await started()
  await logInElsewhere('alice-password')
  expect(await logIn('alice', home)).toEqual([attempt, marks, tokens])
})

test('a login from a new address', async () => {
  const { logIn } = await started()
  const settled = `${marks}, failure, failure; increment count; increment count`
  expect(await logIn('alice', home)).toEqual([attempt, fromNewAddress, settled, firstTokens])
})

test('a login without an address', async () => {
  const { logIn } = await started()
  expect(await logIn('alice', undefined)).toEqual([
    attempt,
    'read known, passed, failure, failure; increment count',
    `${marks}, failure; increment count`,
    'commit put access, known, passed remove count',
  ])
  expect(await logIn('alice', undefined)).toEqual([attempt.replace('read', `${marks},`), tokens])
})

test('a wrong password at a known address takes one trip, and the one after which none is allowed another', async () => {
  const { logIn } = await started()
  await logIn('alice', home)
  const early = attempt.replace('read', `${marks},`)
  for (let mistake = 0; mistake < 4; mistake += 1) expect(await logIn('alice', home, 'wrong')).toEqual([early])
  expect(await logIn('alice', home, 'wrong')).toEqual([early, 'put failure'])
  expect(await logIn('alice', home)).toEqual([early])
})

test('a wrong password from a new address is counted for the source and the client too', async () => {
  const { logIn } = await started()
  const counted = ['read failure, failure', 'increment count', 'increment count']
  expect(await logIn('alice', home, 'wrong')).toEqual([attempt, fromNewAddress, ...counted])
  for (let guessed = 1; guessed < 4; guessed += 1)
    expect(await logIn('alice', home, 'wrong')).toEqual([fromNewAddress, ...counted])
  expect(await logIn('alice', home, 'wrong')).toEqual([fromNewAddress, ...counted, 'put failure'])
})

test('an attempt that has to wait takes one trip, and draws no number', async () => {
  const { logIn } = await started()
  for (let failure = 0; failure < 5; failure += 1) await logIn('alice', home, 'wrong')
  const read = 'read known, passed, failure, passed, failure, failure, failure'
  for (let refused = 0; refused < 3; refused += 1) expect(await logIn('alice', home)).toEqual([read])
})
