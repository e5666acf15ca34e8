import type { Trace } from '../events/recorder.ts'
import { openTraceContext, traceparentOf, tracestateOf } from '../events/trace-context.ts'
import type { EndpointRequest } from '../parts/endpoint.ts'
import type { Runtime } from '../runtime.ts'

/** Replaces the origin of an absolute URL. On most runtimes, the origin of a request is its `Host` header. */
function withOrigin(origin: string, url: string): string {
  const path = url.indexOf('/', url.indexOf('//') + 2)
  return path < 0 ? `${origin}/` : origin + url.slice(path)
}

/** Under which URLs clients know an endpoint. */
export interface EndpointUrls {
  /** The origin of the issuer. */
  readonly origin: string
  readonly alias: string | undefined
  /** Of an endpoint that also has the paths below its own. */
  readonly segmentsOf?: ((url: string) => readonly string[]) | undefined
}

const noSegments: readonly string[] = Object.freeze([])

/** Returns the facts about a request that plugins can read. They do not include the credentials of the caller. */
export const requestFacts = (
  request: Request,
  { id, clientAddress, clientCertificate, context }: Trace,
  { origin, alias, segmentsOf }: EndpointUrls,
  runtime: Pick<Runtime, 'randomBytes'>,
): EndpointRequest => ({
  requestId: id === '' ? undefined : id,
  method: request.method,
  url: withOrigin(origin, request.url),
  aliasUrl: alias,
  segments: segmentsOf === undefined ? noSegments : segmentsOf(request.url),
  header: (name) => (name.toLowerCase() === 'authorization' ? null : request.headers.get(name)),
  clientAddress,
  clientCertificate,
  // Computed on demand, because most plugins make no outgoing call. Not a getter, which would cost 14 microseconds for
  // each token, mostly in garbage collection.
  trace: () => {
    const tracestate = tracestateOf(request.headers)
    const traceparent = traceparentOf(context ?? openTraceContext(request.headers, runtime))
    return { traceparent, ...(tracestate !== undefined && { tracestate }) }
  },
})
