import type { Client } from '../directory/client.ts'
import type { Runtime } from '../runtime.ts'
import type { Fact, Observer } from './event.ts'
import type { TraceContext } from './trace-context.ts'

/**
 * What is known about one request so far, for events and for the CORS decision. Only ever written to on the way; no rule of
 * the protocol reads it.
 */
export interface Trace {
  readonly id: string
  readonly endpoint: string | undefined
  readonly clientAddress: string | undefined
  /** Where the request stands among those of other services; absent where nobody looks. */
  readonly context: TraceContext | undefined
  /** The same as every event tells it. */
  readonly place: ReturnType<typeof placeOf> | undefined
  client: Client | undefined
  sub: string | undefined
  events: number
}

/** Notes whom a token is about, valid or not. */
export function noteToken(
  trace: Trace,
  { client, sub }: { client?: Client | undefined; sub?: string | undefined },
): void {
  trace.client = client
  trace.sub = sub
}

const placeOf = ({ traceId, spanId, parentSpanId }: TraceContext) => ({
  traceId,
  spanId,
  ...(parentSpanId !== undefined && { parentSpanId }),
})

export interface Recorder {
  start(endpoint?: string, clientAddress?: string, context?: TraceContext): Trace
  record(trace: Trace, fact: Fact): void
  /** Whether anybody gets the events. */
  readonly observed: boolean
  /** How often the observer itself has thrown. */
  readonly observerFailures: number
}

/** @param named whether requests get an id also where nobody observes: their answers carry it. */
export function createRecorder(observe: Observer | undefined, runtime: Runtime, named = false): Recorder {
  let observerFailures = 0
  const countFailure = (): void => {
    observerFailures += 1
  }
  const start = (endpoint?: string, clientAddress?: string, context?: TraceContext): Trace => ({
    // Otherwise nobody reads it.
    id: observe === undefined && !named ? '' : runtime.base64url(runtime.randomBytes(9)),
    endpoint,
    clientAddress,
    context,
    place: context && placeOf(context),
    client: undefined,
    sub: undefined,
    events: 0,
  })
  const record = (trace: Trace, fact: Fact): void => {
    if (observe === undefined) return
    trace.events += 1
    try {
      const outcome = observe({
        ...fact,
        id: `${trace.id}.${trace.events}`,
        requestId: trace.id,
        time: runtime.now(),
        ...trace.place,
        ...(trace.endpoint !== undefined && { endpoint: trace.endpoint }),
        ...(trace.client !== undefined && { clientId: trace.client.clientId }),
        ...(trace.sub !== undefined && { sub: trace.sub }),
        ...(trace.clientAddress !== undefined && { clientAddress: trace.clientAddress }),
      })
      // Nobody waits for an observer that is asynchronous; its failure must not end the process.
      if (typeof (outcome as { readonly then?: unknown } | null | undefined)?.then === 'function') {
        Promise.resolve(outcome).catch(countFailure)
      }
    } catch {
      // An observer is a guest: a response must not depend on it. The count is what is left of its failure.
      countFailure()
    }
  }
  return {
    start,
    record,
    observed: observe !== undefined,
    get observerFailures() {
      return observerFailures
    },
  }
}
