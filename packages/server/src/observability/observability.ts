import type { AtomicDriver, Handler, Provider } from '@grantry/core'
import type { Adapter, Listening, RefusedRequest } from '../adapter.ts'
import { listenFailure } from '../error-message.ts'
import { urlHost } from '../local-address.ts'
import { refusedRequestEvent } from './adapter-reports.ts'
import type { Metrics } from './metrics.ts'
import type { MetricsConfiguration } from './metrics-configuration.ts'
import { observedDriver } from './observed-driver.ts'
import { observedRoute } from './observed-route.ts'
import type { Tracing } from './open-telemetry.ts'
import type { ServerObserver } from './server-event.ts'

/** The log, metrics and traces of the server. */
export interface Observability {
  readonly observe: ServerObserver
  storage(driver: AtomicDriver): AtomicDriver
  /** Returns the provider with tracing. */
  provider(provider: Provider): Provider
  /** Reads the state of this provider for the metrics from now on. Call the returned function when it has ended. */
  watch(provider: Provider): () => void
  /** Returns an observer that counts the requests of a tenant. */
  countTenant(tenant: string): ServerObserver
  /** Returns a handler that counts the requests in progress. */
  counted(handler: Handler): Handler
  /** Handles `/metrics` on the port of the server, for callers on this machine; `undefined` if it is not served there. */
  readonly page: ((notFound: Handler) => Handler) | undefined
  /** The separate listener for `/metrics`, if one is configured. */
  readonly listener: Listening | undefined
}

export interface ObservabilityOptions {
  readonly metrics: MetricsConfiguration
  readonly log: ServerObserver
  readonly droppedLines: () => number
  readonly version: string
}

/** The global symbol under which every copy of the OpenTelemetry API stores the registered SDK. */
const registered = Symbol.for('opentelemetry.js.api.1')

/** Creates spans if a module of the operator has registered a tracer. Otherwise the OpenTelemetry API is not loaded. */
async function openTracing(): Promise<Tracing | undefined> {
  const api = (globalThis as { readonly [registered]?: { readonly trace?: unknown } })[registered]
  if (api?.trace === undefined) return undefined
  const { openTelemetry } = await import('./open-telemetry.ts')
  return openTelemetry()
}

async function openMetrics({ metrics, version, droppedLines }: ObservabilityOptions): Promise<Metrics | undefined> {
  if (metrics === false) return undefined
  const { createMetrics } = await import('./metrics.ts')
  // Bun and Deno do not support all the APIs that it reads.
  const isNode = !('Bun' in globalThis || 'Deno' in globalThis)
  const process = isNode ? (await import('./process-metrics.ts')).createProcessMetrics() : undefined
  return createMetrics({ version, droppedLines, process })
}

/** @throws TypeError with a one-line message if the metrics listener cannot listen on its port. */
export async function openObservability(options: ObservabilityOptions, adapter: Adapter): Promise<Observability> {
  const [metrics, tracing] = await Promise.all([openMetrics(options), openTracing()])
  const { localOnly, metricsListener, metricsPage } = await import('./metrics-page.ts')
  const observers = [options.log, metrics?.observe, tracing?.observe as ServerObserver | undefined].filter(
    (observer) => observer !== undefined,
  )
  const observe: ServerObserver = (event) => {
    for (const observer of observers) observer(event)
  }
  const page = metrics && metricsPage(metrics)
  const listenerSettings = typeof options.metrics === 'object' ? options.metrics : undefined
  const listener =
    page &&
    listenerSettings &&
    (await open(
      observedRoute(
        'metrics',
        '/metrics',
        metricsListener(page, listenerSettings.host, listenerSettings.allowedHosts),
        observe,
      ),
      listenerSettings,
      adapter,
      (refused) => observe(refusedRequestEvent(refused)),
    ))
  return {
    observe,
    storage(driver) {
      metrics?.watchStorage(driver)
      const measured = metrics === undefined ? driver : observedDriver(driver, metrics.operation)
      return tracing === undefined ? measured : tracing.storage(measured)
    },
    provider: (provider) => (tracing === undefined ? provider : tracing.provider(provider)),
    watch: (provider) => metrics?.watch(provider) ?? (() => {}),
    countTenant: (tenant) => metrics?.countTenant(tenant) ?? (() => {}),
    counted(handler) {
      if (metrics === undefined) return handler
      return (request, connection) => {
        metrics.requestStarted()
        const response = handler(request, connection)
        // Not awaited, because that would delay the response by some microtasks. A handler does not throw.
        response.then(metrics.requestEnded, metrics.requestEnded)
        return response
      }
    },
    page:
      page && listener === undefined
        ? (notFound) => localOnly(observedRoute('metrics', '/metrics', page, observe), notFound)
        : undefined,
    listener,
  }
}

async function open(
  handler: Handler,
  { host, port }: { readonly host: string; readonly port: number },
  adapter: Adapter,
  onRefused: (refused: RefusedRequest) => void,
): Promise<Listening> {
  const issuer = `http://${urlHost(host)}`
  try {
    // The client address is only logged, so proxies do not matter here.
    return await adapter.serve(
      { issuer, fetch: handler },
      { host, port, trustedProxies: 0, onRefused, onWarning: () => undefined },
    )
  } catch (cause) {
    throw listenFailure(cause, host, port, { port: 'metrics.port', host: 'metrics.host' })
  }
}
