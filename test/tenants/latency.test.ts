// Tenants that end and change while requests are in progress, on a storage that responds late and in any order.
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'
import { base, tenantsFixture } from './tenants-fixture.ts'

const credentials = { grant_type: 'client_credentials', scope: 'api1' }
const at = (name: string): string => `${base}/t/${name}/connect/token`

function setting() {
  const tenants = tenantsFixture({ storage: withLatency(memoryDriver()) })
  const statuses = (count: number, name = 'acme') =>
    Promise.all(Array.from({ length: count }, async () => (await tenants.token(at(name), credentials)).status))
  return { tenants, statuses }
}

describe('while requests are in progress', () => {
  test('21.82 a tenant ends: none of them succeeds after two seconds, also of those that have begun before', async () => {
    const { tenants, statuses } = setting()
    expect(await statuses(1)).toEqual([200])
    const begun = statuses(50)
    tenants.directory.delete('acme')
    tenants.clock.ms += 2000
    expect(new Set(await begun)).toEqual(new Set([404]))
    expect(new Set(await statuses(50))).toEqual(new Set([404]))
    expect(await statuses(1, 'beta')).toEqual([200])
  })

  test('21.82 a tenant ends, and another one gets its name: none of them succeeds after two seconds', async () => {
    const { tenants, statuses } = setting()
    expect(await statuses(1)).toEqual([200])
    const begun = statuses(50)
    await Promise.resolve()
    await Promise.resolve()
    tenants.directory.set('acme', { version: '1', space: 'another acme' })
    tenants.clock.ms += 2000
    expect(new Set(await begun)).toEqual(new Set([404]))
    expect(await statuses(1)).toEqual([200])
  })

  test('a tenant changes: they end as they began, and later ones find the change', async () => {
    const { tenants, statuses } = setting()
    expect(await statuses(1)).toEqual([200])
    const begun = statuses(50)
    // Until each of them has its provider.
    await Promise.resolve()
    await Promise.resolve()
    tenants.directory.set('acme', { version: '2', options: { clients: [] } })
    tenants.clock.ms += 2000
    expect(new Set(await begun)).toEqual(new Set([200]))
    expect(new Set(await statuses(50))).toEqual(new Set([401]))
    expect(tenants.tenantEvents.filter(({ type }) => type === 'tenant_opened')).toHaveLength(2)
  })

  test('a tenant is closed for others, and requests open it again', async () => {
    const tenants = tenantsFixture({
      storage: withLatency(memoryDriver()),
      tenants: Array.from({ length: 8 }, (_, index) => `t${index}`),
      maxOpen: 2,
    })
    const all = await Promise.all(
      Array.from({ length: 80 }, async (_, index) => (await tenants.token(at(`t${index % 8}`), credentials)).status),
    )
    expect(new Set(all)).toEqual(new Set([200]))
    expect(tenants.size).toBeLessThanOrEqual(2)
  })

  test('21.82 the tenants cannot be read: none of them succeeds after two seconds', async () => {
    const { tenants, statuses } = setting()
    expect(await statuses(1)).toEqual([200])
    tenants.directory.get = () => {
      throw new Error('no connection')
    }
    tenants.clock.ms += 2000
    expect(new Set(await statuses(20))).toEqual(new Set([503]))
  })
})
