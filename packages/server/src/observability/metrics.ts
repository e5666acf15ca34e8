import type { Provider } from '@grantry/core'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { createKeyAges, type KeyLister } from './key-ages.ts'
import type { OperationObserver } from './observed-driver.ts'
import type { ServerEvent, ServerObserver } from './server-event.ts'

/** The Prometheus metrics of this process. */
export interface Metrics {
  readonly observe: ServerObserver
  readonly operation: OperationObserver
  /** Counts a request as in flight until the returned function is called. */
  requestStarted(): () => void
  /** Sets the provider whose state is read during a scrape. */
  watch(provider: Provider): void
  readonly contentType: string
  /** Returns all metrics in the Prometheus text format. */
  text(): Promise<string>
}

/** Seconds, from a token from the memory store to the time limit of a slow store. */
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
// The core has about 70 reasons, and plugins add their own.
const maxReasons = 150

/** Replaces values beyond the limit. */
const otherValue = 'other'

/**
 * Passes through at most `limit` different values and replaces the rest with `other`. Labels with values from plugins
 * must not fill the memory of this process and of Prometheus.
 */
function boundedLabel(limit: number): (value: string) => string {
  const known = new Set<string>()
  return (value) => {
    if (known.has(value)) return value
    if (known.size >= limit) return otherValue
    known.add(value)
    return value
  }
}

/** Creates the metrics. `droppedLines` returns how many lines the log has dropped. */
export function createMetrics(facts: { readonly version: string; readonly droppedLines: () => number }): Metrics {
  const registry = new Registry()
  const registers = [registry]
  let provider: Provider | undefined
  const counter = (name: string, help: string, labelNames: readonly string[] = [], collect?: () => number) =>
    new Counter({
      name,
      help,
      labelNames,
      registers,
      ...(collect !== undefined && {
        collect() {
          this.reset()
          this.inc(collect())
        },
      }),
    })
  const histogram = (name: string, help: string, labelNames: readonly string[]) =>
    new Histogram({ name, help, labelNames, buckets, registers })
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers })

  const requests = counter('grantry_requests_total', 'Completed requests', ['endpoint', 'method', 'status', 'reason'])
  const durations = histogram('grantry_request_duration_seconds', 'Duration of requests', ['endpoint'])
  const inFlight = gauge('grantry_requests_in_flight', 'Requests in progress')
  const tokens = counter('grantry_tokens_issued_total', 'Issued tokens', ['grant_type', 'token_type'])
  const failures = counter(
    'grantry_authentication_failures_total',
    'Failed authentications of clients, users and scopes',
    ['caller', 'reason'],
  )
  const replays = counter('grantry_replays_total', 'Spent credentials that were presented again', ['credential'])
  const families = counter('grantry_families_revoked_total', 'Revoked token families', ['reason'])
  const revoked = counter('grantry_tokens_revoked_total', 'Tokens revoked by their client', ['token_type'])
  const events = counter('grantry_events_total', 'Events by type', ['type'])
  const operations = histogram('grantry_storage_operation_duration_seconds', 'Duration of storage operations', [
    'operation',
    'outcome',
  ])
  const operationsInFlight = gauge('grantry_storage_operations_in_flight', 'Storage operations in progress')
  counter(
    'grantry_observer_failures_total',
    'Events for which an observer failed',
    [],
    () => provider?.observerFailures ?? 0,
  )
  counter('grantry_log_lines_dropped_total', 'Dropped log lines', [], facts.droppedLines)
  createKeyAges(registers, () => provider as (Provider & KeyLister) | undefined)
  new Gauge({ name: 'grantry_build_info', help: 'Always 1', labelNames: ['version'], registers }).set(
    { version: facts.version },
    1,
  )
  // Bun and Deno do not support all the APIs that it reads.
  if (!('Bun' in globalThis || 'Deno' in globalThis)) collectDefaultMetrics({ register: registry })

  const reasonOf = boundedLabel(maxReasons)

  function countRequest(endpoint: string, method: string, status: number, reason: string, duration: number): void {
    requests.inc({ endpoint, method, status, reason })
    durations.observe({ endpoint }, duration / 1000)
  }

  function observe(event: ServerEvent): void {
    const { type } = event
    events.inc({ type })
    if (type === 'endpoint_succeeded')
      countRequest(event.endpoint ?? '', event.httpMethod, event.status, '', event.duration)
    else if (type === 'endpoint_failed') {
      countRequest(event.endpoint ?? '', event.httpMethod, event.status, reasonOf(event.reason), event.duration)
    } else if (type === 'request_answered')
      countRequest(event.endpoint, event.httpMethod, event.status, '', event.duration)
    else if (type === 'token_issued') tokens.inc({ grant_type: event.grantType, token_type: event.tokenType })
    else if (type === 'client_authentication_failed') failures.inc({ caller: 'client', reason: reasonOf(event.reason) })
    else if (type === 'user_authentication_failed') failures.inc({ caller: 'user', reason: reasonOf(event.reason) })
    else if (type === 'introspection_denied') failures.inc({ caller: 'scope', reason: reasonOf(event.reason) })
    else if (type === 'code_replayed') replays.inc({ credential: 'code' })
    else if (type === 'refresh_reused') replays.inc({ credential: 'refresh_token' })
    else if (type === 'redemption_replayed') replays.inc({ credential: 'plugin' })
    else if (type === 'family_revoked') families.inc({ reason: reasonOf(event.reason) })
    else if (type === 'token_revoked') revoked.inc({ token_type: event.tokenType })
  }

  return {
    observe,
    operation(operation) {
      const started = performance.now()
      operationsInFlight.inc()
      return (failed) => {
        operationsInFlight.dec()
        operations.observe({ operation, outcome: failed ? 'failed' : 'ok' }, (performance.now() - started) / 1000)
      }
    },
    requestStarted() {
      inFlight.inc()
      return () => inFlight.dec()
    },
    watch(watched) {
      provider = watched
    },
    contentType: registry.contentType,
    // prom-client 15 writes the invalid `Nan`. Go parses it, but other parsers reject the page.
    text: async () => (await registry.metrics()).replaceAll(/ Nan$/gmu, ' NaN'),
  }
}
