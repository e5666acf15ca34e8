// The scopes in the storage, as administrators change them with `@grantry/administration`.
import { openAdministration, refusalOf } from '@grantry/administration'
import { openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const time = Date.parse('2026-11-26T08:00:00Z')

function setting(configuredClients: readonly { clientId: string; scopes: string[] }[] = []) {
  const entries = openEntries({ issuer: 'https://id.example.com', storage: memoryDriver() })
  const revoked: unknown[] = []
  const administration = openAdministration({
    entries,
    check: { client: async () => {}, scope: async () => {}, user: async () => {} },
    hashPassword: async () => '',
    configuredClients,
    revoke: async (target) => void revoked.push(target),
    now: () => time,
  })
  const trail = async () => (await administration.audit({ limit: 20 })).records
  return { ...administration.as({ who: 'alice' }), entries, revoked, trail }
}

const refusalIn = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (thrown: unknown) => ({ ...refusalOf(thrown), message: (thrown as Error).message }),
  )

describe('a scope', () => {
  test('is added without a secret, or with one that is not stored', async () => {
    const { scopes } = setting()
    expect(await scopes.add({ name: 'api1' })).toMatchObject({ scope: { id: 'api1', value: { name: 'api1' } } })
    const { scope, secret = '' } = await scopes.add({ name: 'api2' }, ['team-a'], { withSecret: true })
    expect(secret).toHaveLength(43)
    expect(scope.value.secrets).toEqual([{ sha256: sha256Of(secret) }])
    expect(JSON.stringify(await scopes.show('api2'))).not.toContain(secret)
  })

  test('keeps its earlier secrets until the end of the overlap', async () => {
    const { scopes } = setting()
    const { secret: first } = await scopes.add({ name: 'api1' }, [], { withSecret: true })
    const { secret: second } = await scopes.rotateSecret('api1', 3600)
    const end = time / 1000 + 3600
    expect((await scopes.show('api1')).value.secrets).toEqual([
      { sha256: sha256Of(first as string), expiresAt: end },
      { sha256: sha256Of(second) },
    ])
    const { secret: third } = await scopes.rotateSecret('api1', 0)
    expect((await scopes.show('api1')).value.secrets).toEqual([{ sha256: sha256Of(third) }])
  })

  test('is in the audit trail without a secret, and revokes nothing when it is disabled or removed', async () => {
    const { scopes, trail, revoked } = setting()
    const { secret = '' } = await scopes.add({ name: 'api1' }, [], { withSecret: true })
    await scopes.edit('api1', { enabled: false })
    await scopes.remove('api1')
    const records = await trail()
    expect(records.map(({ action }) => action).sort()).toEqual(['scope_added', 'scope_changed', 'scope_removed'])
    for (const hidden of [secret, sha256Of(secret)]) expect(JSON.stringify(records)).not.toContain(hidden)
    expect(revoked).toEqual([])
  })

  test('that clients in the storage have is removed only by force, and the refusal names a few of them', async () => {
    const { scopes, clients, trail } = setting()
    await scopes.add({ name: 'api1' })
    for (const clientId of ['a', 'b', 'c', 'd', 'e', 'f']) await clients.add({ clientId, scopes: ['api1'] })
    const before = (await trail()).length
    const refusal = await refusalIn(scopes.remove('api1'))
    expect(refusal?.reason).toBe('in_use')
    expect(refusal?.message).toContain('(a, b, c, d, e and others)')
    expect(await trail()).toHaveLength(before)
    await scopes.remove('api1', { force: true })
    expect(await scopes.has('api1')).toBe(false)
  })

  test('that clients in the configuration have is not removed by force either: the server would not start', async () => {
    const { scopes } = setting([{ clientId: 'web', scopes: ['api1'] }])
    await scopes.add({ name: 'api1' })
    const refusal = await refusalIn(scopes.remove('api1', { force: true }))
    expect(refusal).toMatchObject({ reason: 'in_use', message: expect.stringContaining('(web)') })
    expect(await scopes.has('api1')).toBe(true)
  })

  test('of an outdated version is not removed', async () => {
    const { scopes } = setting()
    const { scope } = await scopes.add({ name: 'api1' })
    await scopes.edit('api1', { claims: ['name'] })
    expect(await refusalIn(scopes.remove('api1', { version: scope.version }))).toMatchObject({ reason: 'outdated' })
    expect(await refusalIn(scopes.remove('api2'))).toMatchObject({ reason: 'not_found' })
  })

  test('is the last one when there are 1,000', async () => {
    const { scopes, entries } = setting()
    const value = (name: string) => ({ scope: { name }, tags: [], createdAt: '' })
    for (let index = 0; index < 1000; index += 1) await entries.create('scope', `s${index}`, value(`s${index}`))
    expect(await refusalIn(scopes.add({ name: 'api1' }))).toMatchObject({ reason: 'invalid' })
    const { version = '' } = (await entries.get('scope', 's1')) ?? {}
    await entries.remove('scope', 's1', version)
    expect(await refusalIn(scopes.add({ name: 'api1' }))).toBeUndefined()
  })
})
