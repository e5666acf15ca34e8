import type { AtomicDriver, Provider } from '@grantry/core'
import { createKeyAges, type KeyLister } from './key-ages.ts'
import { boundedLabel, createCounter, createHistogram, createReading } from './metric-family.ts'
import type { OperationObserver } from './observed-driver.ts'
import type { ServerObserver } from './server-event.ts'

/** The Prometheus metrics of this process. */
export interface Metrics {
  readonly observe: ServerObserver
  readonly operation: OperationObserver
  /** Returns an observer that counts the requests of a tenant. */
  countTenant(tenant: string): ServerObserver
  /** Counts a request as in flight until `requestEnded` is called. */
  requestStarted(): void
  requestEnded(): void
  /**
   * Sets the provider whose state is read during a scrape. The counts of earlier providers remain. Call the returned
   * function when a provider is closed.
   */
  watch(provider: Provider): () => void
  /** Adds metrics of the removal of expired items, if the driver removes them. */
  watchStorage(driver: AtomicDriver): void
  readonly contentType: string
  /** Returns all metrics in the Prometheus text format. */
  text(): Promise<string>
}

/** Seconds, from a token from the memory store to the time limit of a slow store. */
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
// The core has about 70 reasons, and plugins add their own.
const maxReasons = 150
/** The maximum number of tenants with series of their own. */
const maxTenants = 500

/** A metric, or several. */
interface Written {
  /** Returns the samples in the Prometheus text format. */
  text(): string
}

/** Creates the functions that add metrics to a page. */
function createInstruments() {
  const page: Written[] = []
  const add = <W extends Written>(created: W): W => {
    page.push(created)
    return created
  }
  const counter = (name: string, help: string, labelNames: readonly string[]) =>
    add(createCounter(name, help, labelNames))
  const histogram = (name: string, help: string, labelNames: readonly string[]) =>
    add(createHistogram(name, help, labelNames, buckets))
  const reading = (type: 'counter' | 'gauge') => (name: string, help: string, read: () => number) =>
    add(createReading(type, { name, help, labelNames: [] }, read))

  return { page, add, counter, histogram, gauge: reading('gauge'), total: reading('counter') }
}

function createEventCounts({ counter, histogram }: ReturnType<typeof createInstruments>): ServerObserver {
  const requests = counter('grantry_requests_total', 'Completed requests', ['endpoint', 'method', 'status', 'reason'])
  const durations = histogram('grantry_request_duration_seconds', 'Duration of requests', ['endpoint'])
  const tokens = counter('grantry_tokens_issued_total', 'Issued tokens', ['grant_type', 'token_type'])
  const failures = counter(
    'grantry_authentication_failures_total',
    'Failed authentications of clients, users and scopes',
    ['caller', 'reason'],
  )
  const replays = counter('grantry_replays_total', 'Spent credentials that were presented again', ['credential'])
  const revokedFamilies = counter('grantry_families_revoked_total', 'Revoked token families', ['reason'])
  const revoked = counter('grantry_tokens_revoked_total', 'Tokens revoked by their client', ['token_type'])
  const events = counter('grantry_events_total', 'Events by type', ['type'])
  const reloads = counter('grantry_configuration_reloads_total', 'Attempts to read the configuration again', [
    'outcome',
  ])
  const reasonOf = boundedLabel(maxReasons)
  // Converting a number to text for each request costs more than finding the series.
  const statusTexts = new Map<number, string>()

  function textOf(status: number): string {
    const cached = statusTexts.get(status)
    if (cached !== undefined) return cached
    const text = String(status)
    statusTexts.set(status, text)
    return text
  }

  function countRequest(endpoint: string, method: string, status: number, reason: string, duration: number): void {
    requests.with(endpoint, method, textOf(status), reason).value += 1
    durations.with(endpoint).observe(duration / 1000)
  }

  return (event) => {
    const { type } = event
    events.with(type).value += 1
    if (type === 'endpoint_succeeded')
      countRequest(event.endpoint ?? '', event.httpMethod, event.status, '', event.duration)
    else if (type === 'endpoint_failed') {
      countRequest(event.endpoint ?? '', event.httpMethod, event.status, reasonOf(event.reason), event.duration)
    } else if (type === 'request_answered')
      countRequest(event.endpoint, event.httpMethod, event.status, '', event.duration)
    else if (type === 'token_issued') tokens.with(event.grantType, event.tokenType).value += 1
    else if (type === 'client_authentication_failed') failures.with('client', reasonOf(event.reason)).value += 1
    else if (type === 'user_authentication_failed') failures.with('user', reasonOf(event.reason)).value += 1
    else if (type === 'second_factor_failed') failures.with('second_factor', reasonOf(event.reason)).value += 1
    else if (type === 'passkey_authentication_failed') failures.with('passkey', reasonOf(event.reason)).value += 1
    else if (type === 'introspection_denied' || type === 'scope_authentication_failed')
      failures.with('scope', reasonOf(event.reason)).value += 1
    else if (type === 'code_replayed') replays.with('code').value += 1
    else if (type === 'refresh_reused' || type === 'refresh_outdated') replays.with('refresh_token').value += 1
    else if (type === 'redemption_replayed') replays.with('plugin').value += 1
    else if (type === 'family_revoked') revokedFamilies.with(reasonOf(event.reason)).value += 1
    else if (type === 'token_revoked') revoked.with(event.tokenType).value += 1
    else if (type === 'configuration_reloaded') reloads.with('reloaded').value += 1
    else if (type === 'configuration_refused') reloads.with('refused').value += 1
  }
}

/** A driver whose processes remove expired items. */
interface SweepingDriver {
  sweepState(): { readonly removed: number; readonly age: number }
}

const createSweepMetrics =
  ({ gauge, total }: ReturnType<typeof createInstruments>) =>
  (driver: AtomicDriver & Partial<SweepingDriver>): void => {
    const { sweepState } = driver
    if (sweepState === undefined) return
    total(
      'grantry_storage_expired_items_removed_total',
      'Expired items that this process has removed',
      () => sweepState().removed,
    )
    gauge(
      'grantry_storage_removal_delay_seconds',
      'Age of the oldest expired item that was removed last; grows while the removal is behind',
      () => sweepState().age,
    )
  }

/** Sums up the counts of providers that replace each other, because a counter must not decrease. */
function sumOfProviders(countOf: (provider: Partial<Provider>) => number | undefined) {
  const present = new Set<Provider>()
  let ofEnded = 0
  return {
    read: (): number => [...present].reduce((sum, provider) => sum + (countOf(provider) ?? 0), ofEnded),
    add(provider: Provider): () => void {
      present.add(provider)
      return () => {
        if (present.delete(provider)) ofEnded += countOf(provider) ?? 0
      }
    },
  }
}

/** The values that the metrics read. */
interface Facts {
  readonly version: string
  /** Returns the number of lines that the log has dropped. */
  readonly droppedLines: () => number
  /** The metrics of the process, where its runtime has them. */
  readonly process?: readonly Written[] | undefined
}

/** Counts what the server, its storage and its process do, and writes it in the Prometheus text format. */
export function createMetrics(facts: Facts): Metrics {
  const instruments = createInstruments()
  const { page, add, histogram, gauge, total } = instruments
  const observe = createEventCounts(instruments)
  let provider: Provider | undefined
  let requestsInFlight = 0
  gauge('grantry_requests_in_flight', 'Requests in progress', () => requestsInFlight)
  const operations = histogram('grantry_storage_operation_duration_seconds', 'Duration of storage operations', [
    'operation',
    'outcome',
  ])
  let operationsInFlight = 0
  gauge('grantry_storage_operations_in_flight', 'Storage operations in progress', () => operationsInFlight)
  const observerFailures = sumOfProviders(({ observerFailures }) => observerFailures)
  total('grantry_observer_failures_total', 'Events for which an observer failed', observerFailures.read)
  total('grantry_log_lines_dropped_total', 'Dropped log lines', facts.droppedLines)
  const keyAges = add(createKeyAges(() => provider as (Provider & KeyLister) | undefined))
  const build = { name: 'grantry_build_info', help: 'Always 1', labelNames: ['version'] }
  add(createReading('gauge', build, () => [[[facts.version], 1]]))
  for (const metric of facts.process ?? []) add(metric)

  const tenantRequests = instruments.counter('grantry_tenant_requests_total', 'Completed requests of tenants', [
    'tenant',
    'status',
  ])
  const tenantLabel = boundedLabel(maxTenants)

  return {
    observe,
    countTenant(tenant) {
      const label = tenantLabel(tenant)
      return (event) => {
        if ('status' in event) tenantRequests.with(label, `${Math.floor(event.status / 100)}xx`).value += 1
      }
    },
    operation(operation) {
      const started = performance.now()
      operationsInFlight += 1
      return (failed) => {
        operationsInFlight -= 1
        operations.with(operation, failed ? 'failed' : 'ok').observe((performance.now() - started) / 1000)
      }
    },
    requestStarted() {
      requestsInFlight += 1
    },
    requestEnded() {
      requestsInFlight -= 1
    },
    watch(watched) {
      provider = watched
      return observerFailures.add(watched)
    },
    watchStorage: createSweepMetrics(instruments),
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    async text() {
      keyAges.refresh()
      // One turn of the event loop is enough for a list in memory. A scrape does not wait for the store.
      await new Promise((resolve) => setImmediate(resolve))
      return page.map((each) => each.text()).join('\n')
    },
  }
}
