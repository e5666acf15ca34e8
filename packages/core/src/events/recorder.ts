import type { Client } from '../directory/client.ts'
import type { ActiveQuestion } from '../directory/user-service.ts'
import type { ClientCertificate, ConnectionInfo } from '../http/connection.ts'
import type { Runtime } from '../runtime.ts'
import type { EventCause } from './cause.ts'
import type { Fact, Observer, ProviderEvent } from './event.ts'
import { createTraceOpener, pooledText, type TraceContext } from './trace-context.ts'

/** White space, and control characters that a terminal could interpret. */
const notPlain = /[\p{C}\s]+/gu

function causeText({ name, message, stack, cause }: EventCause): string {
  const frame = cause === undefined ? /^[ \t]+(at .+)$/mu.exec(stack ?? '')?.[1] : undefined
  const location = frame === undefined ? '' : ` (${frame})`
  return `${name}: ${message}${location}${cause === undefined ? '' : `, caused by ${causeText(cause)}`}`
}

/** Returns the log line of a failure or warning; `undefined` for other facts. */
function lineOf(fact: Fact, endpoint: string | undefined): string | undefined {
  if (fact.type === 'startup_warning') return `warning: ${fact.message} [${fact.reason}]`
  if (fact.type === 'secret_skipped') return `warning: a stored secret of ${fact.owner} is not a hash and was skipped`
  if (fact.type === 'client_skipped') return `warning: a client counts as unknown: ${fact.problem}`
  if (fact.type !== 'unhandled_failure') return undefined
  const { reason, port, cause } = fact
  const location = [endpoint, port].filter((name) => name !== undefined).join(', ')
  return `error: ${reason}${location === '' ? '' : ` (${location})`}: ${causeText(cause)}`
}

/** Returns the log line of a refusal, for a developer; `undefined` for other facts. */
function refusalOf(fact: Fact, { endpoint, client }: Pick<Trace, 'endpoint' | 'client'>): string | undefined {
  if (fact.type === 'upstream_sign_in_failed') return `refused: ${fact.reason} (upstream, provider ${fact.idp})`
  if (fact.type !== 'endpoint_failed' || fact.status >= 500) return undefined
  const { reason, error, description, detail, clientId = client?.clientId } = fact
  const where = [endpoint, clientId && `client ${clientId}`].filter((name) => name !== undefined).join(', ')
  // The settings that a request can exceed.
  const limits =
    client && reason.endsWith('_not_allowed')
      ? `allowed: ${[...client.grantTypes, ...client.scopes].join(' ')}`
      : undefined
  const why = [error, description, detail, limits].filter((text) => text !== undefined).join(', ')
  return `refused: ${reason}${where === '' ? '' : ` (${where})`}: ${why}`
}

/**
 * Logs internal failures and warnings to `console.error` when there is no observer, one line each. Never throws.
 *
 * @param trace with it, refusals are logged, too
 */
export function reportToConsole(fact: Fact, endpoint: string | undefined, trace?: Trace): void {
  try {
    const line = lineOf(fact, endpoint) ?? (trace && refusalOf(fact, trace))
    if (line !== undefined) console.error(`grantry ${line.replaceAll(notPlain, ' ')}`)
  } catch {
    // A replaced console may throw. A response must not depend on it.
  }
}

/**
 * What is known about a request so far, for events, limits, the challenge of a refusal and the CORS decision.
 * Handlers write to the trace, and read only `question` from it; no other protocol decision depends on it.
 */
export interface Trace {
  readonly id: string
  readonly endpoint: string | undefined
  readonly clientAddress: string | undefined
  /** For plugins only, not for events. */
  readonly clientCertificate: ClientCertificate | undefined
  /** The trace context; `undefined` without an observer or trace headers. */
  readonly context: TraceContext | undefined
  client: Client | undefined
  sub: string | undefined
  /** The scheme of the presented access token, for the challenge of a refusal. */
  scheme: string | undefined
  /** The scope name that the caller presented. */
  presented: { readonly known: string | undefined; readonly fingerprint: string } | undefined
  /** Logins only: the requested tenant. */
  tenant: string | undefined
  /** Userinfo only: the question whether the user is active. */
  question: ActiveQuestion | undefined
  events: number
}

/** Records the client and user of a token in the trace, whether the token is valid or not. */
export function noteToken(
  trace: Trace,
  { client, sub }: { client?: Client | undefined; sub?: string | undefined },
): void {
  trace.client = client
  trace.sub = sub
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/**
 * Uses `Object.assign`, not spread: for facts of different shapes, V8 takes 6 microseconds to spread and 0.2 to assign
 * (Node.js 20).
 */
function eventOf(fact: Fact, trace: Trace, time: number): ProviderEvent {
  const { id, context, endpoint, client, sub, tenant, clientAddress } = trace
  // One by one: an object to assign them from takes as long as all of them.
  const event = Object.assign({}, fact) as Writable<ProviderEvent>
  event.id = `${id}.${trace.events}`
  event.requestId = id
  event.time = time
  if (context !== undefined) {
    event.traceId = context.traceId
    event.spanId = context.spanId
    if (context.parentSpanId !== undefined) event.parentSpanId = context.parentSpanId
  }
  if (endpoint !== undefined) event.endpoint = endpoint
  if (client !== undefined) event.clientId = client.clientId
  if (sub !== undefined) event.sub = sub
  if (tenant !== undefined) event.tenant = tenant
  if (clientAddress !== undefined) event.clientAddress = clientAddress
  return event
}

export interface Recorder {
  /** Continues the trace of a request, or starts a new one. */
  readonly openTrace: (headers: Headers) => TraceContext
  start(endpoint?: string, connection?: ConnectionInfo, context?: TraceContext): Trace
  record(trace: Trace, fact: Fact): void
  /** Whether there is an observer. */
  readonly observed: boolean
  /** Whether ends of requests are recorded: with an observer, or to explain refusals to a developer. */
  readonly recordsEnds: boolean
  /** The number of times that the observer has thrown or rejected. */
  readonly observerFailures: number
}

const requestIdLength = 12
/** Bytes for the ids of 128 requests. */
const batchLength = 1152

/**
 * @param options.named whether requests get an id even without an observer, because responses contain it
 * @param options.issuer if it is `http`, refusals are logged without an observer
 */
export function createRecorder(
  observe: Observer | undefined,
  runtime: Runtime,
  { named = false, issuer = '' }: { readonly named?: boolean | undefined; readonly issuer?: string } = {},
): Recorder {
  // Such an issuer can only be on this machine: its developer has no other sign of what is wrong with a request.
  const explains = issuer.startsWith('http:')
  let observerFailures = 0
  const countFailure = (): void => {
    observerFailures += 1
  }
  const drawId = pooledText(() => runtime.base64url(runtime.randomBytes(batchLength)))
  const start = (endpoint?: string, connection?: ConnectionInfo, context?: TraceContext): Trace => ({
    // Generated only if it is used.
    id: observe === undefined && !named ? '' : drawId(requestIdLength),
    endpoint,
    clientAddress: connection?.clientAddress,
    clientCertificate: connection?.clientCertificate,
    context,
    client: undefined,
    sub: undefined,
    scheme: undefined,
    presented: undefined,
    tenant: undefined,
    question: undefined,
    events: 0,
  })
  const record = (trace: Trace, fact: Fact): void => {
    if (observe === undefined) {
      reportToConsole(fact, trace.endpoint, explains ? trace : undefined)
      return
    }
    trace.events += 1
    try {
      const outcome = observe(eventOf(fact, trace, runtime.now()))
      // Not awaited. A rejection must not end the process.
      if (typeof (outcome as { readonly then?: unknown } | null | undefined)?.then === 'function') {
        Promise.resolve(outcome).catch(countFailure)
      }
    } catch {
      // A response must not depend on the observer, so its errors are only counted.
      countFailure()
    }
  }
  return {
    openTrace: createTraceOpener(runtime),
    start,
    record,
    observed: observe !== undefined,
    recordsEnds: observe !== undefined || explains,
    get observerFailures() {
      return observerFailures
    },
  }
}
