import { readFileSync } from 'node:fs'
import type { AtomicDriver, Provider } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { expect, test } from 'vitest'
import { createMetrics } from '../../packages/server/src/observability/metrics.ts'
import type { ServerEvent } from '../../packages/server/src/observability/server-event.ts'
import { root } from '../docs/code-blocks.ts'
import { type Family, parsePrometheusText } from './prometheus-text.ts'

const create = () => createMetrics({ version: '1.2.3', droppedLines: () => 7 })
const read = async (metrics: ReturnType<typeof create>): Promise<ReadonlyMap<string, Family>> =>
  parsePrometheusText(await metrics.text())

/** A driver that has removed expired items. */
const sweeping = { ...memoryDriver(), sweepState: () => ({ removed: 7, age: 90 }) } as AtomicDriver

const refusal = (reason: string) =>
  ({
    type: 'endpoint_failed',
    endpoint: 'token',
    httpMethod: 'POST',
    status: 400,
    duration: 1500,
    error: 'invalid_grant',
    reason,
    description: '',
    id: 'a.1',
    requestId: 'a',
    time: 0,
  }) as ServerEvent

test('limits the number of reasons, so memory is bounded', async () => {
  const metrics = create()
  for (let count = 0; count < 5000; count += 1) metrics.observe(refusal(`plugin:x:${count}`))
  const samples = (await read(metrics)).get('grantry_requests_total')?.samples ?? []
  expect(samples.length).toBeLessThan(200)
  expect(samples.find(({ labels }) => labels.reason === 'other')?.value).toBeGreaterThan(4500)
  expect(samples.reduce((sum, { value }) => sum + value, 0)).toBe(5000)
})

test('escapes a reason with quotes and line breaks', async () => {
  const metrics = create()
  const reason = 'plugin:x:"\\\n} 1'
  metrics.observe(refusal(reason))
  expect((await read(metrics)).get('grantry_requests_total')?.samples[0]?.labels.reason).toBe(reason)
})

test('durations are in seconds', async () => {
  const metrics = create()
  metrics.observe(refusal('x'))
  const samples = (await read(metrics)).get('grantry_request_duration_seconds')?.samples ?? []
  expect(samples.find(({ name }) => name.endsWith('_sum'))?.value).toBe(1.5)
})

test('counts storage operations in progress', async () => {
  const metrics = create()
  const end = metrics.operation('getItem')
  expect((await read(metrics)).get('grantry_storage_operations_in_flight')?.samples[0]?.value).toBe(1)
  end(true)
  expect((await read(metrics)).get('grantry_storage_operations_in_flight')?.samples[0]?.value).toBe(0)
})

test('reads what the driver has removed at scrape time, if it removes expired items', async () => {
  const metrics = create()
  metrics.watchStorage(memoryDriver())
  expect((await read(metrics)).has('grantry_storage_removal_delay_seconds')).toBe(false)
  metrics.watchStorage(sweeping)
  const families = await read(metrics)
  expect(families.get('grantry_storage_expired_items_removed_total')?.samples[0]?.value).toBe(7)
  expect(families.get('grantry_storage_removal_delay_seconds')?.samples[0]?.value).toBe(90)
})

test('reads observer failures and dropped lines at scrape time', async () => {
  const metrics = create()
  metrics.watch({ observerFailures: 3 } as Provider)
  for (let look = 0; look < 2; look += 1) {
    const families = await read(metrics)
    expect(families.get('grantry_observer_failures_total')?.samples[0]?.value).toBe(3)
    expect(families.get('grantry_log_lines_dropped_total')?.samples[0]?.value).toBe(7)
  }
})

test('reports the age of each key, and caches the list of keys', async () => {
  const metrics = create()
  let listed = 0
  const createdAt = Math.floor(Date.now() / 1000) - 3600
  const keys = {
    list: async () => {
      listed += 1
      return [{ kid: 'k1', algorithm: 'ES256', state: 'current', createdAt }]
    },
  }
  metrics.watch({ keys } as unknown as Provider)
  for (let look = 0; look < 3; look += 1) {
    const [sample] = (await read(metrics)).get('grantry_key_age_seconds')?.samples ?? []
    expect(sample?.labels).toEqual({ kid: 'k1', algorithm: 'ES256', state: 'current' })
    expect(sample?.value).toBeGreaterThanOrEqual(3599)
    expect(sample?.value).toBeLessThan(7200)
  }
  expect(listed).toBe(1)
})

test.each([
  ['rejects', () => Promise.reject(new Error('out of reach'))],
  ['never settles', () => new Promise<never>(() => {})],
])('a scrape does not wait for the keys if the list %s', async (_, list) => {
  const metrics = create()
  metrics.watch({ keys: { list } } as unknown as Provider)
  expect((await read(metrics)).get('grantry_key_age_seconds')?.samples).toEqual([])
})

test('the guide lists exactly the existing metrics and labels', async () => {
  const guide = readFileSync(`${root}/docs/guides/observability.md`, 'utf8')
  const written = [...guide.matchAll(/^\| `(grantry_\w+)` \| (\w+) \| (.*?) \|/gmu)].map(
    ([, name, type]) => `${name} ${type}`,
  )
  const metrics = create()
  metrics.watchStorage(sweeping)
  const families = [...(await read(metrics)).values()].filter(({ name }) => name.startsWith('grantry_'))
  expect([...written].sort()).toEqual(families.map(({ name, type }) => `${name} ${type}`).sort())
})
