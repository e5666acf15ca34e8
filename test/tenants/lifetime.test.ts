import { describe, expect, test } from 'vitest'
import { base, type TenantsFixture, tenantsFixture } from './tenants-fixture.ts'

const credentials = { grant_type: 'client_credentials', scope: 'api1' }
const at = (name: string): string => `${base}/t/${name}/connect/token`
const statusAt = async (tenants: TenantsFixture, name: string) => (await tenants.token(at(name), credentials)).status

describe('a tenant', () => {
  test('is opened once for many first requests', async () => {
    const tenants = tenantsFixture()
    const statuses = await Promise.all(Array.from({ length: 100 }, () => statusAt(tenants, 'acme')))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(tenants.tenantEvents).toMatchObject([{ type: 'tenant_opened', tenant: 'acme' }])
    expect(tenants.asked).toEqual(['acme'])
  })

  test('is closed by tasks when it was not used, and opened again', async () => {
    const tenants = tenantsFixture()
    await statusAt(tenants, 'acme')
    tenants.clock.ms = 599_999
    await tenants.runTasks()
    expect(tenants.size).toBe(1)
    tenants.clock.ms = 600_000
    await tenants.runTasks()
    expect(tenants.size).toBe(0)
    expect(await statusAt(tenants, 'acme')).toBe(200)
    await expect.poll(() => tenants.tenantEvents.map(({ type }) => type)).toContain('tenant_closed')
  })

  test('that was used least recently is closed when there are too many', async () => {
    const tenants = tenantsFixture({ tenants: ['a', 'b', 'c'], maxOpen: 2 })
    for (const name of ['a', 'b', 'a', 'c']) {
      tenants.clock.ms += 1
      expect(await statusAt(tenants, name)).toBe(200)
    }
    expect(tenants.size).toBe(2)
    await expect
      .poll(() => tenants.tenantEvents.find(({ type }) => type === 'tenant_closed'))
      .toMatchObject({ tenant: 'b', reason: 'crowded' })
  })

  test('that has ended is refused after two seconds', async () => {
    const tenants = tenantsFixture()
    await statusAt(tenants, 'acme')
    tenants.directory.delete('acme')
    expect(await statusAt(tenants, 'acme')).toBe(200)
    tenants.clock.ms = 2000
    expect(await statusAt(tenants, 'acme')).toBe(404)
    expect(tenants.size).toBe(0)
  })

  test('that has changed is opened again', async () => {
    const tenants = tenantsFixture()
    await statusAt(tenants, 'acme')
    tenants.directory.set('acme', { version: '2', options: { clients: [] } })
    tenants.clock.ms = 2000
    expect(await statusAt(tenants, 'acme')).toBe(401)
    expect(tenants.tenantEvents.filter(({ type }) => type === 'tenant_opened')).toHaveLength(2)
  })

  test('that is added is found after two seconds, and the host is asked once until then', async () => {
    const tenants = tenantsFixture()
    expect(await statusAt(tenants, 'new')).toBe(404)
    expect(await statusAt(tenants, 'new')).toBe(404)
    expect(tenants.asked).toEqual(['new'])
    tenants.directory.set('new', { version: '1' })
    tenants.clock.ms = 2001
    expect(await statusAt(tenants, 'new')).toBe(200)
  })

  test('that cannot be opened is tried again after a second', async () => {
    const tenants = tenantsFixture()
    tenants.directory.set('acme', { version: '1', options: { clients: 'none' as never } })
    expect(await statusAt(tenants, 'acme')).toBe(503)
    tenants.directory.set('acme', { version: '2' })
    expect(await statusAt(tenants, 'acme')).toBe(503)
    tenants.clock.ms = 1000
    expect(await statusAt(tenants, 'acme')).toBe(200)
  })
})

describe('events', () => {
  test('name the tenant, and what a login has requested apart from it', async () => {
    const tenants = tenantsFixture()
    const login = {
      grant_type: 'password',
      username: 'alice',
      password: 'wrong',
      scope: 'openid',
      acr_values: 'tenant:beta',
    }
    expect((await tenants.token(at('acme'), login)).status).toBe(400)
    const failed = tenants.events.filter(({ type }) => type === 'user_authentication_failed')
    expect(failed).toMatchObject([{ tenant: 'acme', requestedTenant: 'beta' }])
    expect(new Set(tenants.events.map(({ tenant }) => tenant))).toEqual(new Set(['acme']))
  })
})

test('use() calls a function with the provider of a tenant', async () => {
  const tenants = tenantsFixture()
  expect(await tenants.use('acme', async ({ issuer }) => issuer)).toBe(`${base}/t/acme`)
  expect(await tenants.use('none', async ({ issuer }) => issuer)).toBeUndefined()
})

test('close() closes all, and refuses requests', async () => {
  const tenants = tenantsFixture()
  await statusAt(tenants, 'acme')
  await tenants.close()
  expect(tenants.tenantEvents.at(-1)).toMatchObject({ type: 'tenant_closed', reason: 'stopped' })
  expect(await statusAt(tenants, 'acme')).toBe(503)
})
