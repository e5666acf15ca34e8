import type { EndpointKit } from '@grantry/core'
import { expect, test } from 'vitest'
import { knownClients } from '../../packages/server/src/provider/known-clients.ts'

const day = 86_400

/** Returns a kit with one record, which shows what is stored. */
function storage() {
  let value: unknown
  let now = 1_000_000
  const records = {
    async update(
      _key: string,
      _schema: unknown,
      change: (present: unknown) => { readonly value: unknown } | undefined,
    ) {
      const next = change(value)
      if (next !== undefined) value = next.value
    },
  }
  const kit = { records, now: () => now } as unknown as EndpointKit
  return {
    kit,
    ids: () => (value as readonly { readonly id: string }[]).map(({ id }) => id),
    pass(seconds: number) {
      now += seconds
    },
  }
}

test('clients of a tenant that no server lists are forgotten after 400 days, and not before', async () => {
  const { kit, ids, pass } = storage()
  const listed = knownClients('clients of tenants', { ids: new Set(['a', 'b']), isMissing: () => true })
  const unlisting = knownClients('clients of tenants', { ids: new Set(['b']), isMissing: () => false })
  await listed.compare(kit)
  await unlisting.compare(kit)
  pass(399 * day)
  await unlisting.compare(kit)
  expect(ids()).toEqual(['a', 'b'])
  // A server that lists the tenant begins the time anew.
  await listed.compare(kit)
  pass(2 * day)
  await unlisting.compare(kit)
  pass(399 * day)
  await unlisting.compare(kit)
  expect(ids()).toEqual(['a', 'b'])
  pass(2 * day)
  await unlisting.compare(kit)
  expect(ids()).toEqual(['b'])
  expect(unlisting.due).toEqual(new Set())
})

test('an epoch that was read long before it could be noted ends nothing', async () => {
  const { kit, pass } = storage()
  const servers = knownClients('clients', { ids: new Set(), isMissing: () => true })
  await knownClients('clients', { ids: new Set(['a']), isMissing: () => true }).compare(kit)
  for (let run = 0; run < 20; run += 1) {
    await servers.compare(kit)
    pass(600)
  }
  expect(servers.due).toEqual(new Set(['a']))
  const ended: unknown[] = []
  const client = (delay: number) => ({
    async epochOf() {
      pass(delay)
      return 'before'
    },
    async endEpoch(id: string, epoch: string | null) {
      ended.push([id, epoch])
    },
  })
  await expect(servers.end(kit, () => true, client(61))).rejects.toThrow('too slow')
  expect(ended).toEqual([])
  expect(await servers.end(kit, () => true, client(0))).toEqual({ left: [], failures: [] })
  expect(ended).toEqual([['a', 'before']])
  expect(servers.due).toEqual(new Set())
})
