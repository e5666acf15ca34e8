import { expect, test } from 'vitest'
import { createProcessMetrics } from '../../packages/server/src/observability/process-metrics.ts'
import { parsePrometheusText } from './prometheus-text.ts'

/** What prom-client 15 writes on Linux, which dashboards and alerts read: the labels and types by name. */
const expected = {
  process_cpu_user_seconds_total: ['counter'],
  process_cpu_system_seconds_total: ['counter'],
  process_cpu_seconds_total: ['counter'],
  process_start_time_seconds: ['gauge'],
  process_resident_memory_bytes: ['gauge'],
  process_virtual_memory_bytes: ['gauge'],
  process_heap_bytes: ['gauge'],
  process_open_fds: ['gauge'],
  process_max_fds: ['gauge'],
  nodejs_eventloop_lag_seconds: ['gauge'],
  nodejs_eventloop_lag_min_seconds: ['gauge'],
  nodejs_eventloop_lag_max_seconds: ['gauge'],
  nodejs_eventloop_lag_mean_seconds: ['gauge'],
  nodejs_eventloop_lag_stddev_seconds: ['gauge'],
  nodejs_eventloop_lag_p50_seconds: ['gauge'],
  nodejs_eventloop_lag_p90_seconds: ['gauge'],
  nodejs_eventloop_lag_p99_seconds: ['gauge'],
  nodejs_active_resources: ['gauge', 'type'],
  nodejs_active_resources_total: ['gauge'],
  nodejs_active_handles: ['gauge', 'type'],
  nodejs_active_handles_total: ['gauge'],
  nodejs_active_requests: ['gauge', 'type'],
  nodejs_active_requests_total: ['gauge'],
  nodejs_heap_size_total_bytes: ['gauge'],
  nodejs_heap_size_used_bytes: ['gauge'],
  nodejs_external_memory_bytes: ['gauge'],
  nodejs_heap_space_size_total_bytes: ['gauge', 'space'],
  nodejs_heap_space_size_used_bytes: ['gauge', 'space'],
  nodejs_heap_space_size_available_bytes: ['gauge', 'space'],
  nodejs_version_info: ['gauge', 'version', 'major', 'minor', 'patch'],
  nodejs_gc_duration_seconds: ['histogram'],
} as const

const page = (metrics: ReturnType<typeof createProcessMetrics>) =>
  parsePrometheusText(metrics.map((each) => each.text()).join('\n'))

test('the metrics of the process have the names, types and labels that dashboards for Node.js read', () => {
  const families = page(createProcessMetrics())
  const written = [...families].map(([name, { type, samples }]) => [
    name,
    [type, ...(type === 'histogram' ? [] : Object.keys(samples[0]?.labels ?? {}))],
  ])
  // Handles and requests can have no samples, and then no labels.
  const optional = ['nodejs_active_handles', 'nodejs_active_requests', 'nodejs_active_resources']
  const isSure = ([name]: readonly [string, unknown]) => !optional.includes(name)
  expect(Object.fromEntries(written.filter((each) => isSure(each as [string, unknown])))).toEqual(
    Object.fromEntries(Object.entries(expected).filter(isSure)),
  )
  for (const name of optional) expect(families.get(name)?.type).toBe('gauge')
})

test('their values are those of the process', () => {
  const families = page(createProcessMetrics())
  const value = (name: string): number => families.get(name)?.samples[0]?.value ?? Number.NaN
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
  expect(value('process_virtual_memory_bytes')).toBeGreaterThan(value('process_resident_memory_bytes'))
  expect(value('process_heap_bytes')).toBeGreaterThan(1_000_000)
  expect(value('process_max_fds')).toBeGreaterThanOrEqual(value('process_open_fds'))
  expect(value('process_open_fds')).toBeGreaterThan(2)
  expect(value('process_cpu_seconds_total')).toBeGreaterThan(0)
  expect(Math.abs(value('process_start_time_seconds') - (Date.now() / 1000 - process.uptime()))).toBeLessThan(60)
  expect(value('nodejs_heap_size_used_bytes')).toBeLessThanOrEqual(value('nodejs_heap_size_total_bytes'))
})
