// An `apply` that ends in the middle: the next one finishes it, whatever was written before.
import { applyPlan, declarationOf, type Managers, makePlan, openAdministration } from '@grantry/administration'
import { type EntryStore, openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { machine } from './setting.ts'

const numbered = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, index) => machine(`c${String(index).padStart(4, '0')}`, more))

const issuer = 'https://id.example.com'

function administer(entries: EntryStore): Managers {
  const accepted = async () => {}
  const check = { client: accepted, scope: accepted, user: accepted }
  return openAdministration({ entries, check, revoke: accepted, hashPassword: async () => '' }).as({ who: 'alice' })
}

const planOf = (managers: Managers, clients: readonly object[]) =>
  makePlan(declarationOf([{ file: 'f.json', content: { clients } }]), managers, { prune: true })

const noSecrets = () => {}

/** Entries whose writes fail from the given one on: before they are made, or after. */
function failing(entries: EntryStore, writes: number, isMade: boolean): EntryStore {
  let left = writes
  const limited =
    <A extends readonly unknown[], R>(write: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      left -= 1
      if (left < 0 && !isMade) throw new Error('the disk is full')
      const result = await write(...args)
      if (left < 0) throw new Error('the connection was lost')
      return result
    }
  return {
    ...entries,
    create: limited(entries.create),
    replace: limited(entries.replace),
    remove: limited(entries.remove),
  }
}

test.each([true, false])('a storage that fails after each write, and had made it: %s', async (isMade) => {
  const before = [...numbered(2), machine('gone-1'), machine('gone-2')]
  const after = [...numbered(2, { scopes: ['api2'] }), machine('new-1'), machine('new-2')]
  let failures = 0
  for (let writes = 0; ; writes += 1) {
    const entries = openEntries({ issuer, storage: memoryDriver() })
    const first = await planOf(administer(entries), before)
    await applyPlan(first, { managers: administer(entries), keepSecret: noSecrets })

    const broken = administer(failing(entries, writes, isMade))
    const { failure } = await applyPlan(await planOf(broken, after), { managers: broken, keepSecret: noSecrets })
    const managers = administer(entries)
    const rest = await planOf(managers, after)
    expect(await applyPlan(rest, { managers, keepSecret: noSecrets })).toMatchObject({ failure: undefined })
    expect((await planOf(managers, after)).changes).toEqual([])
    const stored = (await managers.clients.page({ limit: 10 })).entries
    expect(stored.map(({ id, value }) => [id, value.scopes])).toEqual([
      ['c0000', ['api2']],
      ['c0001', ['api2']],
      ['new-1', ['api1']],
      ['new-2', ['api1']],
    ])
    if (failure === undefined) break
    failures += 1
  }
  expect(failures).toBeGreaterThan(10)
})

test('an entry that someone else changes meanwhile keeps that change, and the next plan shows it', async () => {
  const managers = administer(openEntries({ issuer, storage: memoryDriver() }))
  await applyPlan(await planOf(managers, numbered(3)), { managers, keepSecret: noSecrets })
  const wanted = [...numbered(3, { scopes: ['api2'] }), machine('d')]
  const plan = await planOf(managers, wanted)
  await managers.clients.edit('c0001', { accessTokenLifetime: 60 })
  await managers.clients.add({ clientId: 'd', scopes: ['api3'] })
  const { failure } = await applyPlan(plan, { managers, keepSecret: noSecrets })
  expect(String(failure?.cause)).toMatch(/the client c0001 was changed meanwhile|there is a client d already/u)
  expect((await managers.clients.show('c0001')).value).toMatchObject({ accessTokenLifetime: 60, scopes: ['api1'] })
  expect((await managers.clients.show('d')).value).toMatchObject({ scopes: ['api3'] })
  await applyPlan(await planOf(managers, wanted), { managers, keepSecret: noSecrets })
  expect((await planOf(managers, wanted)).changes).toEqual([])
})

test('an entry that someone else has removed meanwhile is an error, and is added by the next plan', async () => {
  const managers = administer(openEntries({ issuer, storage: memoryDriver() }))
  await applyPlan(await planOf(managers, numbered(2)), { managers, keepSecret: noSecrets })
  const wanted = numbered(2, { scopes: ['api2'] })
  const plan = await planOf(managers, wanted)
  await managers.clients.remove('c0000')
  const { failure } = await applyPlan(plan, { managers, keepSecret: noSecrets })
  expect(String(failure?.cause)).toContain('there is no client c0000')
  expect((await planOf(managers, wanted)).changes).toMatchObject([{ action: 'add', id: 'c0000' }])
})
