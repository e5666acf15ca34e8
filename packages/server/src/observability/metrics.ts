import type { Provider } from '@grantry/core'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { boundedLabel } from './bounded-label.ts'
import { createKeyAges, type Listing } from './key-ages.ts'
import type { OperationObserver } from './observed-driver.ts'
import type { ServerEvent, ServerObserver } from './server-event.ts'

/** Counts of this process, for Prometheus. */
export interface Metrics {
  readonly observe: ServerObserver
  readonly operation: OperationObserver
  /** A request has come in; what it returns hears that it is over. */
  requestBegan(): () => void
  /** Tells where to ask for what is only known when somebody looks. */
  watch(provider: Provider): void
  readonly contentType: string
  /** The page in the text format of Prometheus. */
  text(): Promise<string>
}

/** Seconds: from a token out of memory to the time limit of a store. */
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
// The core has some 70 reasons of its own; plugins name theirs.
const longestReasonList = 150

/** @param droppedLines how many lines the log could not get rid of. */
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

  const requests = counter('grantry_requests_total', 'Requests that were answered', [
    'endpoint',
    'method',
    'status',
    'reason',
  ])
  const durations = histogram('grantry_request_duration_seconds', 'How long requests took', ['endpoint'])
  const inFlight = gauge('grantry_requests_in_flight', 'Requests that are being answered now')
  const tokens = counter('grantry_tokens_issued_total', 'Tokens that were issued', ['grant_type', 'token_type'])
  const failures = counter('grantry_authentication_failures_total', 'Callers who did not prove who they are', [
    'caller',
    'reason',
  ])
  const replays = counter('grantry_replays_total', 'Spent credentials that came again', ['credential'])
  const families = counter('grantry_families_revoked_total', 'Authorizations whose tokens are refused', ['reason'])
  const revoked = counter('grantry_tokens_revoked_total', 'Tokens that their client has revoked', ['token_type'])
  const events = counter('grantry_events_total', 'Events by type', ['type'])
  const operations = histogram('grantry_storage_operation_duration_seconds', 'How long the storage took', [
    'operation',
    'outcome',
  ])
  const operationsInFlight = gauge('grantry_storage_operations_in_flight', 'Operations that the storage owes an answer')
  counter(
    'grantry_observer_failures_total',
    'Events that an observer failed on',
    [],
    () => provider?.observerFailures ?? 0,
  )
  counter('grantry_log_lines_dropped_total', 'Lines of the log that nobody took', [], facts.droppedLines)
  createKeyAges(registers, () => provider as (Provider & Listing) | undefined)
  new Gauge({ name: 'grantry_build_info', help: 'Always 1', labelNames: ['version'], registers }).set(
    { version: facts.version },
    1,
  )
  // Bun and Deno lack parts of what it reads.
  if (!('Bun' in globalThis || 'Deno' in globalThis)) collectDefaultMetrics({ register: registry })

  const reasonOf = boundedLabel(longestReasonList)

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
    requestBegan() {
      inFlight.inc()
      return () => inFlight.dec()
    },
    watch(watched) {
      provider = watched
    },
    contentType: registry.contentType,
    // prom-client 15 writes `Nan`, which the format does not know; Go reads it, other readers refuse the page.
    text: async () => (await registry.metrics()).replaceAll(/ Nan$/gmu, ' NaN'),
  }
}
