// More tenants in use than can be open: each request is answered, and the work of opening them again is bounded.
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { describe, expect, test } from 'vitest'
import { withLatency } from '../support/latency.ts'
import { base, tenantsFixture } from './tenants-fixture.ts'

const credentials = { grant_type: 'client_credentials', scope: 'api1' }

function setting(count: number, maxOpen: number, storage = withLatency(memoryDriver())) {
  const names = Array.from({ length: count }, (_, index) => `t${index}`)
  const tenants = tenantsFixture({ storage, tenants: names, maxOpen })
  const ask = async (index: number) =>
    (await tenants.token(`${base}/t/t${index % count}/connect/token`, credentials)).status
  const countOf = (type: string) => tenants.tenantEvents.filter((event) => event.type === type).length
  /** The most that were open at the same time, with those that wait for the end of their requests. */
  const most = (): number => {
    let open = 0
    let highest = 0
    for (const { type } of tenants.tenantEvents) {
      open += type === 'tenant_opened' ? 1 : type === 'tenant_closed' ? -1 : 0
      highest = Math.max(highest, open)
    }
    return highest
  }
  return { tenants, ask, opened: () => countOf('tenant_opened'), most }
}

describe.each([
  [40, 4],
  [40, 1],
  [10, 9],
])('%i tenants in use, of which %i can be open', (count, maxOpen) => {
  test('all requests of a burst are answered, and a tenant is opened for many of them at a time', async () => {
    const { tenants, ask, opened, most } = setting(count, maxOpen)
    const requests = 400
    const statuses = await Promise.all(Array.from({ length: requests }, (_, index) => ask(index)))
    expect(new Set(statuses)).toEqual(new Set([200]))
    // Those that wait for a tenant share what is opened.
    expect(opened()).toBeLessThanOrEqual(2 * count)
    expect(most()).toBeLessThanOrEqual(2 * count)
    expect(tenants.size).toBeLessThanOrEqual(maxOpen)
  })

  test('one after another, a request opens at most one tenant', async () => {
    const { tenants, ask, opened, most } = setting(count, maxOpen, memoryDriver())
    for (let index = 0; index < 2 * count; index += 1) expect(await ask(index)).toBe(200)
    expect(opened()).toBeLessThanOrEqual(2 * count)
    expect(most()).toBeLessThanOrEqual(maxOpen + 1)
    expect(tenants.size).toBeLessThanOrEqual(maxOpen)
  })
})

test('a burst for tenants that are open opens none', async () => {
  const { ask, opened } = setting(4, 4)
  for (let index = 0; index < 4; index += 1) await ask(index)
  await Promise.all(Array.from({ length: 200 }, (_, index) => ask(index)))
  expect(opened()).toBe(4)
})
