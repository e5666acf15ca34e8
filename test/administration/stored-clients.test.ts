// The clients that a process remembers: when it reads them again.
import { storedEntries } from '@grantry/administration'
import { type ClientSource, type Entry, type EntryStore, type Kit, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'

const storedValue = (clientId: string, clientName: string) => ({
  client: { clientId, clientName },
  tags: [],
  createdAt: '',
  changedAt: '',
})

/** A source over counted reads, at a time that the test sets. */
function setting(wrap: (entries: EntryStore) => Pick<EntryStore, 'getWithRevision'> = (entries) => entries) {
  const entries = openEntries({ issuer: 'https://id.example.com', storage: memoryDriver() })
  const { getWithRevision } = wrap(entries)
  const state = { now: 1000, reads: 0 }
  const plugin = storedEntries({
    entries: {
      ...entries,
      getWithRevision(kind, id) {
        state.reads += 1
        return getWithRevision(kind, id)
      },
    },
    cacheFor: 5,
  })
  const [source] = plugin.parts as [ClientSource]
  const kit = { now: () => state.now } as Kit
  const find = async (clientId: string) => (await source.find(clientId, kit)) as { clientName?: string } | undefined
  const nameOf = async (clientId: string) => (await find(clientId))?.clientName
  const add = (clientId: string) => entries.create('client', clientId, storedValue(clientId, 'first'))
  async function rename(clientId: string, clientName: string): Promise<void> {
    const { version } = (await entries.get('client', clientId)) as Entry
    await entries.replace('client', clientId, version, storedValue(clientId, clientName))
  }
  return { entries, state, find, nameOf, add, rename }
}

/** Reads twice: the first read of a process learns the revision, those after 5 seconds are confirmed by it. */
async function remembered({ nameOf, state }: ReturnType<typeof setting>, ...ids: readonly string[]): Promise<void> {
  await nameOf(ids[0] ?? '')
  state.now += 5
  for (const id of ids) await nameOf(id)
  state.reads = 0
}

describe('a stored client', () => {
  test('is not read again for 5 seconds, and is the same object as long as it is the same', async () => {
    const service = setting()
    await service.add('web')
    await remembered(service, 'web')
    const first = await service.find('web')
    service.state.now += 4
    expect(await service.find('web')).toBe(first)
    expect(service.state.reads).toBe(0)
    service.state.now += 1
    expect(await service.find('web')).toBe(first)
    expect(service.state.reads).toBe(1)
  })

  test('is renewed by the read of another one', async () => {
    const service = setting()
    for (const id of ['one', 'two', 'three']) await service.add(id)
    await remembered(service, 'one', 'two', 'three')
    service.state.now += 5
    for (const id of ['one', 'two', 'three']) await service.nameOf(id)
    expect(service.state.reads).toBe(1)
  })

  test('that was changed is seen after 5 seconds, also if another one is read first', async () => {
    const service = setting()
    for (const id of ['one', 'two']) await service.add(id)
    await remembered(service, 'one', 'two')
    await service.rename('two', 'second')
    service.state.now += 5
    expect([await service.nameOf('one'), await service.nameOf('two')]).toEqual(['first', 'second'])
  })

  test('that was read before a change, together with the revision after it, is used for 5 seconds, and no longer', async () => {
    let isLate = false
    const service: ReturnType<typeof setting> = setting((entries) => ({
      async getWithRevision(kind, id) {
        if (!isLate) return entries.getWithRevision(kind, id)
        isLate = false
        const entry = await entries.get(kind, id)
        await service.rename(id, 'second')
        return { entry, revision: await entries.revision('client') }
      },
    }))
    await service.add('web')
    await remembered(service, 'web')
    service.state.now += 5
    isLate = true
    expect(await service.nameOf('web')).toBe('first')
    service.state.now += 4
    // Confirms all that is current.
    await service.nameOf('another')
    expect(await service.nameOf('web')).toBe('first')
    service.state.now += 1
    expect(await service.nameOf('web')).toBe('second')
  })

  test('that a killed command changed without a new revision is seen after a minute', async () => {
    const service = setting((entries) => ({
      getWithRevision: async (kind, id) => ({ ...(await entries.getWithRevision(kind, id)), revision: 'old' }),
    }))
    await service.add('web')
    await remembered(service, 'web')
    await service.rename('web', 'second')
    service.state.now += 55
    await service.nameOf('another')
    service.state.now += 4
    expect(await service.nameOf('web')).toBe('first')
    service.state.now += 1
    expect(await service.nameOf('web')).toBe('second')
  })

  test('works immediately after an unknown one was asked for', async () => {
    const service = setting()
    await remembered(service, 'web')
    expect(await service.find('web')).toBeUndefined()
    await service.add('web')
    expect(await service.nameOf('web')).toBe('first')
  })

  test('is read again if the process remembers too many characters of others', async () => {
    const service = setting()
    const ids = Array.from({ length: 300 }, (_, index) => `large${index}`)
    for (const id of ids) await service.entries.create('client', id, storedValue(id, 'x'.repeat(60_000)))
    await service.add('small')
    for (const id of [...ids, 'small']) await service.find(id)
    service.state.reads = 0
    for (const id of [...ids.slice(-250), 'small']) await service.find(id)
    expect(service.state.reads).toBe(0)
    await service.find('large0')
    expect(service.state.reads).toBe(1)
  })

  test('of a form that another version wrote is refused, not absent', async () => {
    const service = setting()
    await service.entries.create('client', 'web', { client: { clientId: 'other' } })
    await expect(service.find('web')).rejects.toThrow('the stored client web has an unknown form')
  })
})
