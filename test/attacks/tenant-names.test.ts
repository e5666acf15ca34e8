/**
 * Attack: a client requests many names that no tenant has, so that users of other tenants wait behind the look-ups, or names of
 * many tenants that are not open, so that all others wait until these are open.
 *
 * Decision 168.
 */
import { routeTenants, type TenantServing, tenantsByPath } from '@grantry/core/tenants'
import { expect, test } from 'vitest'

const serving = (name: string): TenantServing => ({
  issuer: `https://id.example.com/t/${name}`,
  handle: async () => new Response('served'),
  runTasks: async () => {},
  close: async () => {},
})

/** Look-ups of `unknown-…`, and openings of `slow-…`, take until they are released. */
function setting() {
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const tenants = routeTenants<string, TenantServing>({
    tenantOf: tenantsByPath(),
    source: {
      async find(name) {
        if (name.startsWith('unknown')) await released
        return /^(?:acme|slow-\d+)$/u.test(name) ? { name, open: () => name } : undefined
      },
    },
    async open(name) {
      if (name !== 'acme') await released
      return serving(name)
    },
  })
  const statusOf = async (name: string): Promise<number> =>
    (await tenants.fetch(new Request(`https://id.example.com/t/${name}/connect/token`))).status
  const statuses = (start: string, count: number): Promise<readonly number[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => statusOf(`${start}-${index}`)))
  return { release, statusOf, statuses }
}

test('names that no tenant has do not hold a tenant that is opened', async () => {
  const { release, statusOf, statuses } = setting()
  const unknown = statuses('unknown', 30)
  expect(await statusOf('acme')).toBe(200)
  release()
  expect(new Set(await unknown)).toEqual(new Set([404]))
})

test('tenants that open slowly do not hold the response for a name that no tenant has', async () => {
  const { release, statusOf, statuses } = setting()
  const slow = statuses('slow', 30)
  expect(await statusOf('none')).toBe(404)
  release()
  expect(new Set(await slow)).toEqual(new Set([200]))
})

test('too many requests for others are no failure of a tenant', async () => {
  const { release, statusOf, statuses } = setting()
  const unknown = statuses('unknown', 2500)
  expect(await statusOf('acme')).toBe(503)
  release()
  expect(new Set(await unknown)).toEqual(new Set([404, 503]))
  expect(await statusOf('acme')).toBe(200)
})
