// Pages of few entries that few of the stored ones belong to: by a filter, or because the others were removed. A trip to
// the storage takes a few milliseconds, so a page must not need one for each entry that it skips.
import { openAdministration } from '@grantry/administration'
import { type EntryKind, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'

const count = 1000
const idOf = (number: number): string => `e${String(number).padStart(4, '0')}`
const numbers = Array.from({ length: count }, (_, number) => number)

/** An administration on a memory storage that counts the pages which it reads from it. */
function setting() {
  const stored = openEntries({ issuer: 'https://id.example.com', storage: memoryDriver() })
  let trips = 0
  const entries: typeof stored = {
    ...stored,
    list: (...request) => {
      trips += 1
      return stored.list(...request)
    },
  }
  const administration = openAdministration({
    entries,
    check: { client: async () => {}, scope: async () => {}, user: async () => {} },
    hashPassword: async () => '',
    revoke: async () => {},
  })
  async function tripsOf<T>(read: () => Promise<T>): Promise<readonly [T, number]> {
    const before = trips
    return [await read(), trips - before]
  }
  async function create(kind: EntryKind, number: number, value: object, isRemoved = false): Promise<void> {
    const entry = await stored.create(kind, idOf(number), value as never)
    if (isRemoved) await stored.remove(kind, idOf(number), String(entry?.version))
  }
  const time = '2026-11-26T10:00:00.000Z'
  const clientOf = (number: number, tags: readonly string[]) => ({
    client: { clientId: idOf(number) },
    tags,
    createdAt: time,
    changedAt: time,
  })
  const userOf = (number: number) => ({
    user: { sub: idOf(number), username: idOf(number) },
    tags: [],
    createdAt: time,
    changedAt: time,
  })
  return { ...administration.as({ who: 'alice' }), tripsOf, create, clientOf, userOf }
}

test('a page of one client with a filter reads the storage in large trips', async () => {
  const { clients, tripsOf, create, clientOf } = setting()
  for (const number of numbers) await create('client', number, clientOf(number, number === count - 1 ? ['last'] : []))
  const [page, trips] = await tripsOf(() => clients.page({ limit: 1, tag: 'last' }))
  expect(page.entries.map(({ id }) => id)).toEqual([idOf(count - 1)])
  expect(trips).toBe(5)
  const [all, tripsForAll] = await tripsOf(() => clients.page({ limit: 1000, tag: 'last' }))
  expect([all.entries.length, tripsForAll]).toEqual([1, 1])
})

test('a page of one client after many that were removed reads the storage in large trips', async () => {
  const { clients, tripsOf, create, clientOf } = setting()
  for (const number of numbers) await create('client', number, clientOf(number, []), number < 500)
  const [page, trips] = await tripsOf(() => clients.page({ limit: 1 }))
  expect([page.entries.map(({ id }) => id), page.next]).toEqual([[idOf(500)], idOf(500)])
  expect(trips).toBe(4)
  const [, next] = await tripsOf(() => clients.page({ limit: 1, after: page.next }))
  expect(next).toBe(1)
})

test.each([1, 3, 200, 400])('pages of %i with a filter have each client once, and none is lost', async (limit) => {
  const { clients, create, clientOf } = setting()
  const isTagged = (number: number) => number % 7 === 0 || number > 985
  for (const number of numbers) await create('client', number, clientOf(number, isTagged(number) ? ['t'] : []))
  const listedIds: string[] = []
  let after: string | undefined
  do {
    const page = await clients.page({ limit, tag: 't', after })
    expect(page.entries.length).toBeLessThanOrEqual(limit)
    listedIds.push(...page.entries.map(({ id }) => id))
    after = page.next
  } while (after !== undefined)
  expect(listedIds).toEqual(numbers.filter(isTagged).map(idOf))
})

test('a search for one user after many whose names were removed reads the storage in large trips', async () => {
  const { users, tripsOf, create, userOf } = setting()
  for (const number of numbers) {
    await create('user-name', number, { name: idOf(number), sub: idOf(number) }, number < 500)
    if (number >= 500) await create('user', number, userOf(number))
  }
  const [page, trips] = await tripsOf(() => users.search({ name: 'e', limit: 1 }))
  expect([page.entries.map(({ id }) => id), page.next]).toEqual([[idOf(500)], idOf(500)])
  expect(trips).toBe(4)
  const listedIds: string[] = []
  let after: string | undefined
  do {
    const { entries, next } = await users.search({ name: 'e', limit: 90, after })
    listedIds.push(...entries.map(({ id }) => id))
    after = next
  } while (after !== undefined)
  expect(listedIds).toEqual(numbers.slice(500).map(idOf))
})
