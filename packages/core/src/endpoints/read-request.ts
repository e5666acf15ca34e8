import type { Trace } from '../events/recorder.ts'
import { openTraceContext, traceparentOf, tracestateOf } from '../events/trace-context.ts'
import type { Parameters, RequestParameters } from '../http/parameters.ts'
import { hasBody, parseForm, readForm, readOptionalForm, readQueryParameters } from '../http/read-parameters.ts'
import type { EndpointRequest } from '../parts/endpoint.ts'
import type { Runtime } from '../runtime.ts'
import type { CoreEndpoint } from './core-endpoint.ts'

export const noForm: RequestParameters = Object.freeze(Object.create(null))

/** Creates the functions that read the body and the parameters of requests to an endpoint. */
export function createReadRequest(endpoint: Pick<CoreEndpoint, 'params' | 'jsonBody'>, bodyLimit: number) {
  const { params: schema, jsonBody } = endpoint
  const { read, parse }: { read: typeof readForm; parse: (bytes: Uint8Array) => Parameters } = jsonBody ?? {
    read: readForm,
    parse: parseForm,
  }

  /**
   * Reads the body of a POST, PUT or PATCH. If the endpoint has no parameters, an empty body may have any media type: clients
   * with the token in the header send `application/json`, too.
   */
  function bodyOf(request: Request): Promise<Uint8Array | undefined> | undefined {
    if (!hasBody(request)) return undefined
    if (schema !== undefined) return read(request, bodyLimit)
    const { headers } = request
    if (!headers.has('content-type') && headers.has('authorization')) return undefined
    return readOptionalForm(request, bodyLimit)
  }

  const formOf = (bytes: Uint8Array | undefined): RequestParameters | undefined =>
    jsonBody === undefined && bytes !== undefined ? parseForm(bytes) : undefined

  /** Returns the parameters that are not in a form. */
  function otherParameters(request: Request, bytes: Uint8Array | undefined): Parameters {
    if (schema === undefined) return noForm
    return bytes === undefined ? readQueryParameters(request, bodyLimit) : parse(bytes)
  }

  /** Like `bodyOf`, for callers without credentials: nothing is read if the endpoint has no parameters. */
  const bodyOfAnyone = (request: Request): Promise<Uint8Array> | undefined =>
    schema !== undefined && hasBody(request) ? read(request, bodyLimit) : undefined

  return { bodyOf, formOf, otherParameters, bodyOfAnyone }
}

/** Replaces the origin of an absolute URL. On most runtimes, the origin of a request is its `Host` header. */
function withOrigin(origin: string, url: string): string {
  const path = url.indexOf('/', url.indexOf('//') + 2)
  return path < 0 ? `${origin}/` : origin + url.slice(path)
}

/** Under which URLs clients know an endpoint. */
interface EndpointUrls {
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
