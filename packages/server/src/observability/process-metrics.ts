import { readdirSync, readFileSync } from 'node:fs'
import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'
import { createHistogram, createReading, type Readings } from './metric-family.ts'

// The metrics have the names of prom-client 15, which dashboards and alerts for Node.js use. The package itself is not
// used, because it loads 80 modules, among them OpenTelemetry.

/** One metric that is read during a scrape. */
type Row = readonly [name: string, help: string, read: () => number | undefined | Readings, labels?: readonly string[]]

const nanoseconds = 1e9

/** Reads files of `/proc`; `undefined` on systems without it. */
function ofLinux<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Returns a number of `/proc/self`, such as the size behind `VmSize:`. */
const numberIn = (file: string, pattern: RegExp): number | undefined => {
  const text = ofLinux(() => readFileSync(`/proc/self/${file}`, 'utf8').match(pattern)?.[1])
  return text === undefined ? undefined : Number(text)
}
const sizeIn = (pattern: RegExp): number | undefined => {
  const kibibytes = numberIn('status', pattern)
  return kibibytes === undefined ? undefined : kibibytes * 1024
}

/** Counts values. */
function countsOf(types: readonly string[]): Readings {
  const counts = new Map<string, number>()
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1)
  return [...counts].map(([type, count]) => [[type], count] as const)
}

interface Internals {
  _getActiveHandles(): readonly object[]
  _getActiveRequests(): readonly object[]
}
const { _getActiveHandles: handles, _getActiveRequests: requests } = process as NodeJS.Process & Internals
const namesOf = (values: readonly object[]): readonly string[] => values.map((value) => value.constructor.name)

const cpu = (part: 'user' | 'system'): number => process.cpuUsage()[part] / 1e6

const counters: readonly Row[] = [
  ['process_cpu_user_seconds_total', 'Total user CPU time spent in seconds.', () => cpu('user')],
  ['process_cpu_system_seconds_total', 'Total system CPU time spent in seconds.', () => cpu('system')],
  ['process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', () => cpu('user') + cpu('system')],
]

const heapSpaces = (size: 'space_size' | 'space_used_size' | 'space_available_size') => (): Readings =>
  getHeapSpaceStatistics().map((space) => [[space.space_name.replace(/_space$/u, '')], space[size]] as const)

const startedAt = Math.round(Date.now() / 1000 - process.uptime())
const { version } = process
const [major = '', minor = '', patch = ''] = version.slice(1).split('.')

const gauges: readonly Row[] = [
  ['process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', () => startedAt],
  ['process_resident_memory_bytes', 'Resident memory size in bytes.', () => process.memoryUsage.rss()],
  ['process_virtual_memory_bytes', 'Virtual memory size in bytes.', () => sizeIn(/^VmSize:\s+(\d+)/mu)],
  ['process_heap_bytes', 'Process heap size in bytes.', () => sizeIn(/^VmData:\s+(\d+)/mu)],
  [
    'process_open_fds',
    'Number of open file descriptors.',
    () => ofLinux(() => readdirSync('/proc/self/fd').length - 1),
  ],
  [
    'process_max_fds',
    'Maximum number of open file descriptors.',
    () => numberIn('limits', /^Max open files\s+(\d+)/mu),
  ],
  [
    'nodejs_active_resources',
    'Number of active resources that are currently keeping the event loop alive, grouped by async resource type.',
    () => countsOf(process.getActiveResourcesInfo()),
    ['type'],
  ],
  ['nodejs_active_resources_total', 'Total number of active resources.', () => process.getActiveResourcesInfo().length],
  [
    'nodejs_active_handles',
    'Number of active libuv handles grouped by type.',
    () => countsOf(namesOf(handles())),
    ['type'],
  ],
  ['nodejs_active_handles_total', 'Total number of active handles.', () => handles().length],
  [
    'nodejs_active_requests',
    'Number of active libuv requests grouped by type.',
    () => countsOf(namesOf(requests())),
    ['type'],
  ],
  ['nodejs_active_requests_total', 'Total number of active requests.', () => requests().length],
  ['nodejs_heap_size_total_bytes', 'Process heap size from Node.js in bytes.', () => process.memoryUsage().heapTotal],
  [
    'nodejs_heap_size_used_bytes',
    'Process heap size used from Node.js in bytes.',
    () => process.memoryUsage().heapUsed,
  ],
  ['nodejs_external_memory_bytes', 'Node.js external memory size in bytes.', () => process.memoryUsage().external],
  [
    'nodejs_heap_space_size_total_bytes',
    'Process heap space size total from Node.js in bytes.',
    heapSpaces('space_size'),
    ['space'],
  ],
  [
    'nodejs_heap_space_size_used_bytes',
    'Process heap space size used from Node.js in bytes.',
    heapSpaces('space_used_size'),
    ['space'],
  ],
  [
    'nodejs_heap_space_size_available_bytes',
    'Process heap space size available from Node.js in bytes.',
    heapSpaces('space_available_size'),
    ['space'],
  ],
  [
    'nodejs_version_info',
    'Node.js version info.',
    () => [[[version, major, minor, patch], 1]],
    ['version', 'major', 'minor', 'patch'],
  ],
]

/** Creates the gauges of the event loop since the last scrape. */
function loopGauges(): readonly Row[] {
  const delay = monitorEventLoopDelay()
  delay.enable()
  const percentile = (share: number): Row => [
    `nodejs_eventloop_lag_p${share}_seconds`,
    `The ${share}th percentile of the recorded event loop delays.`,
    () => delay.percentile(share) / nanoseconds,
  ]
  let lag = 0
  const measure = (): number => {
    const started = performance.now()
    setImmediate(() => {
      lag = (performance.now() - started) / 1000
    })
    return lag
  }
  return [
    ['nodejs_eventloop_lag_seconds', 'Lag of event loop in seconds.', measure],
    ['nodejs_eventloop_lag_min_seconds', 'The minimum recorded event loop delay.', () => delay.min / nanoseconds],
    ['nodejs_eventloop_lag_max_seconds', 'The maximum recorded event loop delay.', () => delay.max / nanoseconds],
    [
      'nodejs_eventloop_lag_mean_seconds',
      'The mean of the recorded event loop delays.',
      () => delay.mean / nanoseconds,
    ],
    [
      'nodejs_eventloop_lag_stddev_seconds',
      'The standard deviation of the recorded event loop delays.',
      () => delay.stddev / nanoseconds,
    ],
    percentile(50),
    percentile(90),
    [
      'nodejs_eventloop_lag_p99_seconds',
      'The 99th percentile of the recorded event loop delays.',
      () => {
        const value = delay.percentile(99) / nanoseconds
        // This gauge is read last, so the next scrape starts again.
        delay.reset()
        return value
      },
    ],
  ]
}

interface Collection {
  /** Milliseconds. */
  readonly duration: number
  readonly detail: { readonly kind: number }
}

const collections: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
}

/** Returns the metrics of the process and of Node.js, in the Prometheus text format during a scrape. */
export function createProcessMetrics(): readonly { text(): string }[] {
  const durations = createHistogram(
    'nodejs_gc_duration_seconds',
    'Garbage collection duration by kind, one of major, minor, incremental or weakcb.',
    ['kind'],
    [0.001, 0.01, 0.1, 1, 2, 5],
  )
  new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries() as unknown as readonly Collection[]) {
      durations.with(collections[detail.kind] ?? '').observe(duration / 1000)
    }
  }).observe({ entryTypes: ['gc'] })
  const readings = (type: 'counter' | 'gauge', rows: readonly Row[]) =>
    rows.map(([name, help, read, labelNames = []]) => createReading(type, { name, help, labelNames }, read))
  return [...readings('counter', counters), ...readings('gauge', [...gauges, ...loopGauges()]), durations]
}
