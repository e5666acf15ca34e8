// What the managers of `@grantry/administration` do when the storage fails in the middle, and with entries that they cannot
// read.
import { type AdministrationOptions, openAdministration, refusalOf } from '@grantry/administration'
import { type EntryStore, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'

type Failing = Partial<Pick<EntryStore, 'create' | 'replace' | 'remove'>>

/** Clients in a memory storage. `failing` replaces methods of the entries. */
function setting(failing: (entries: EntryStore) => Failing = () => ({}), more: Partial<AdministrationOptions> = {}) {
  const entries = openEntries({ issuer: 'https://id.example.com', storage: memoryDriver() })
  const revoked: unknown[] = []
  const administration = openAdministration({
    entries: { ...entries, ...failing(entries) },
    check: { client: async () => {}, scope: async () => {}, user: async () => {} },
    hashPassword: async () => '',
    revoke: async (target) => void revoked.push(target),
    ...more,
  })
  const trail = async () => (await administration.audit({ limit: 10 })).records
  const { clients, users } = administration.as({ who: 'alice' })
  return { entries, revoked, clients, users, trail }
}

const reasonOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (thrown: unknown) => refusalOf(thrown)?.reason,
  )
const storageFails = async (): Promise<never> => {
  throw new Error('the storage failed')
}

describe('the audit trail', () => {
  test('keeps a change whose end is unknown, because the storage failed in the middle', async () => {
    const { clients, trail } = setting(({ create }) => ({
      create: (kind, id, value) => (kind === 'client' ? storageFails() : create(kind, id, value)),
    }))
    await expect(clients.add({ clientId: 'web' })).rejects.toThrow('the storage failed')
    expect(await trail()).toMatchObject([{ action: 'client_added', id: 'web', who: 'alice', outcome: 'unknown' }])
  })

  test('does not lose a new secret when its own last write fails', async () => {
    const { clients, trail } = setting(({ replace }) => ({
      replace: (kind, ...rest) => (kind === 'audit' ? storageFails() : replace(kind, ...rest)),
    }))
    const { secret } = await clients.add({ clientId: 'web' })
    expect(secret).toHaveLength(43)
    expect(await trail()).toMatchObject([{ outcome: 'unknown' }])
  })

  test('has no change that was refused', async () => {
    const { clients, trail } = setting()
    await clients.add({ clientId: 'web' })
    const { version } = await clients.show('web')
    await clients.edit('web', { clientName: 'Web' }, { version })
    const refusals = [
      clients.add({ clientId: 'web' }),
      clients.add({ clientId: 'caf\u00e9' }),
      clients.add({ clientId: 'big', clientName: 'x'.repeat(70_000) }),
      clients.edit('web', { clientName: 'Other' }, { version }),
      clients.edit('web', { clientId: 'other' }),
      clients.remove('web', { version }),
      clients.remove('unknown'),
    ]
    const reasons = await Promise.all(refusals.map(reasonOf))
    expect(reasons).toEqual(['exists', 'invalid', 'invalid', 'outdated', 'invalid', 'outdated', 'not_found'])
    expect((await trail()).map(({ action }) => action)).toEqual(['client_changed', 'client_added'])
  })

  test('has the changes of one millisecond in their order', async () => {
    const { clients, trail } = setting(undefined, { now: () => 1_800_000_000_000 })
    await clients.add({ clientId: 'web' })
    for (let number = 0; number < 8; number += 1) await clients.edit('web', { clientName: `${number}` })
    expect((await trail()).map(({ after }) => after?.clientName)).toEqual([...'76543210', undefined])
  })

  test.each(['client', 'user'] as const)(
    'has the end of a %s whose removal was refused, but who was disabled',
    async (kind) => {
      const { entries, clients, users, trail, revoked } = setting((store) => ({
        // Another administrator changes the entry between the two writes of the removal.
        async remove(of, id, version) {
          const present = of === kind ? await store.get(of, id) : undefined
          if (present !== undefined) await store.replace(of, id, present.version, present.value)
          return store.remove(of, id, version)
        },
      }))
      await clients.add({ clientId: 'web' })
      await users.add({ sub: 'web', username: 'web' })
      const manager = kind === 'client' ? clients : users
      expect(await reasonOf(manager.remove('web'))).toBe('outdated')
      const [record] = await trail()
      const off = kind === 'client' ? { enabled: false } : { active: false }
      expect(record).toEqual({
        action: `${kind}_changed`,
        id: 'web',
        who: 'alice',
        time: expect.any(String),
        before: {},
        after: off,
        outcome: 'done',
      })
      expect(revoked.at(-1)).toEqual(kind === 'client' ? { clientId: 'web' } : { subject: 'web' })
      expect(await entries.get(kind, 'web')).toMatchObject({ value: { [kind]: off } })
      // A second attempt has nothing to disable.
      expect(await reasonOf(manager.remove('web'))).toBe('outdated')
      expect((await trail())[0]).toMatchObject({ action: `${kind}_revoked`, id: 'web', outcome: 'done' })
    },
  )

  test('has a revocation whose change was refused afterwards', async () => {
    let isLate = false
    const { clients, trail, revoked } = setting((store) => ({
      async create(kind, id, value) {
        if (kind === 'client' && isLate) await store.create(kind, id, value)
        return store.create(kind, id, value)
      },
      async replace(kind, id, version, value) {
        if (kind === 'client' && isLate) await store.replace(kind, id, version, value)
        return store.replace(kind, id, version, value)
      },
    }))
    await clients.add({ clientId: 'web', enabled: false })
    isLate = true
    expect(await reasonOf(clients.edit('web', { enabled: true }))).toBe('outdated')
    expect(await reasonOf(clients.add({ clientId: 'zoo' }))).toBe('exists')
    expect(await reasonOf(clients.edit('web', { clientName: 'Web' }))).toBe('outdated')
    const revocations = (await trail()).filter(({ action }) => action === 'client_revoked')
    expect(revocations).toMatchObject([{ id: 'zoo' }, { id: 'web' }])
    expect(revoked).toEqual([{ clientId: 'web' }, { clientId: 'web' }, { clientId: 'zoo' }])
    expect(await trail()).toHaveLength(3)
  })

  test('records labels', async () => {
    const { clients, trail } = setting()
    await clients.add({ clientId: 'web' }, ['one'])
    await clients.edit('web', {}, { tags: ['two'] })
    expect((await trail())[0]).toMatchObject({ before: { tags: ['one'] }, after: { tags: ['two'] } })
  })
})

describe('a client', () => {
  test('that is disabled or removed loses its tokens afterwards, one that is added or enabled before', async () => {
    const order: string[] = []
    const note =
      <K extends 'create' | 'replace'>(method: EntryStore[K], name: string) =>
      (...args: Parameters<EntryStore[K]>) => {
        if (args[0] === 'client') order.push(name)
        return (method as (...all: Parameters<EntryStore[K]>) => ReturnType<EntryStore[K]>)(...args)
      }
    const { clients } = setting(
      ({ create, replace }) => ({ create: note(create, 'create'), replace: note(replace, 'replace') }) as Failing,
      { revoke: async () => void order.push('revoke') },
    )
    await clients.add({ clientId: 'web' })
    await clients.edit('web', { enabled: false })
    await clients.edit('web', { enabled: true })
    await clients.edit('web', { clientName: 'Web' })
    await clients.remove('web')
    const adding = ['revoke', 'create']
    // The last write says that nothing is left to do.
    const disabling = ['replace', 'revoke', 'replace']
    const enabling = ['revoke', 'replace']
    const renaming = ['replace']
    const removal = ['replace', 'revoke']
    expect(order).toEqual([...adding, ...disabling, ...enabling, ...renaming, ...removal])
  })

  test('of an unknown form is listed by its id, refused, and can be removed', async () => {
    const { clients, entries } = setting()
    await entries.create('client', 'web', { client: { clientId: 'other' } })
    await clients.add({ clientId: 'zoo' })
    expect(await clients.page({ limit: 10 })).toMatchObject({ entries: [{ id: 'zoo' }], unreadable: ['web'] })
    expect(await reasonOf(clients.show('web'))).toBe('unreadable')
    await clients.remove('web')
    expect(await clients.has('web')).toBe(false)
  })
})

describe('a page', () => {
  test('has only entries with the label and the state that were asked for, and continues behind them', async () => {
    const { clients } = setting()
    for (let number = 10; number < 40; number += 1) {
      await clients.add({ clientId: `c${number}`, enabled: number % 2 === 0 }, number % 3 === 0 ? ['third'] : [])
    }
    const first = await clients.page({ limit: 3, tag: 'third', enabled: true })
    expect(first.entries.map(({ id }) => id)).toEqual(['c12', 'c18', 'c24'])
    const second = await clients.page({ limit: 3, tag: 'third', enabled: true, after: first.next })
    expect(second).toMatchObject({ entries: [{ id: 'c30' }, { id: 'c36' }] })
    expect(second.next).toBeUndefined()
  })
})
