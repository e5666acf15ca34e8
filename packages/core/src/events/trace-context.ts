import { hex, type Runtime } from '../runtime.ts'

/**
 * The position of a request in a distributed trace. All ids are validated lower-case hex, even if the caller sent them.
 */
export interface TraceContext {
  /** 32 hex digits: the same in every service of the trace. */
  readonly traceId: string
  /** 16 hex digits: the span of this request. */
  readonly spanId: string
  /** The span of the caller, if the request continues a trace. */
  readonly parentSpanId?: string | undefined
  /** 0 to 3. Bit 0: sampled; bit 1: random trace id. */
  readonly flags: number
}

/** A parsed `traceparent`. */
export interface TraceParent {
  readonly traceId: string
  readonly parentSpanId: string
  readonly flags: number
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/u
const versionZeroLength = 55
// Undefined bits must not be passed on: W3C Trace Context, "Other Flags".
const knownFlags = 3

/**
 * Parses a `traceparent` header. Returns `undefined` if it is absent or invalid; the request then starts a new trace.
 *
 * @see https://www.w3.org/TR/trace-context/ sections 3.2 and 4.3; Level 2 for the random flag
 */
export function parseTraceparent(header: string | null | undefined): TraceParent | undefined {
  const [, version, traceId = '', parentSpanId = '', flags = ''] = form.exec(header ?? '') ?? []
  if (version === undefined || version === 'ff') return undefined
  // Only later versions can append fields after a dash.
  if (version === '00' && header?.length !== versionZeroLength) return undefined
  if (/^0+$/u.test(traceId) || /^0+$/u.test(parentSpanId)) return undefined
  return { traceId, parentSpanId, flags: Number.parseInt(flags, 16) & knownFlags }
}

/** Returns the `traceparent` of a response or an outgoing call, in version 00. */
export const traceparentOf = ({ traceId, spanId, flags }: TraceContext): string => `00-${traceId}-${spanId}-0${flags}`

const traceIdLength = 16
const spanIdLength = 8
const randomTraceId = 2

/** Returns this many random hex digits. */
type DrawDigits = (count: number) => string

function openWith(headers: Headers, draw: DrawDigits): TraceContext {
  const parent = parseTraceparent(headers.get('traceparent'))
  const spanId = draw(2 * spanIdLength)
  if (parent !== undefined) return { spanId, ...parent }
  return { traceId: draw(2 * traceIdLength), spanId, flags: randomTraceId }
}

/** Continues the trace of a request, or starts a new one, which is not sampled. */
export const openTraceContext = (headers: Headers, runtime: Pick<Runtime, 'randomBytes'>): TraceContext =>
  openWith(headers, (count) => hex(runtime.randomBytes(count / 2)))

/**
 * Returns a function that takes characters from a random text and never returns one twice. Encoding many ids together
 * costs a tenth of encoding each.
 *
 * For ids only: a text in memory cannot be overwritten, unlike the bytes of a token.
 *
 * @param fill creates the next text
 */
export function pooledText(fill: () => string): (length: number) => string {
  let pool = ''
  let used = 0
  return (length) => {
    if (used + length > pool.length) {
      pool = fill()
      used = 0
    }
    used += length
    return pool.slice(used - length, used)
  }
}

/** Bytes for the ids of about 80 requests. */
const batchLength = 2048

/** Returns `openTraceContext` for many requests, with ids from a pool. */
export function createTraceOpener(runtime: Pick<Runtime, 'randomBytes'>): (headers: Headers) => TraceContext {
  const draw = pooledText(() => hex(runtime.randomBytes(batchLength)))
  return (headers) => openWith(headers, draw)
}

/**
 * The `tracestate` length that services must pass on; a longer one can be dropped (W3C Trace Context, section 3.3.1.5).
 */
const tracestateLength = 512

/** Returns the `tracestate` to pass on. Without a valid `traceparent`, it is dropped. */
export function tracestateOf(headers: Headers): string | undefined {
  const state = headers.get('tracestate')
  if (state === null || state.length > tracestateLength || !/^[\t\x20-\x7E]+$/u.test(state)) return undefined
  return parseTraceparent(headers.get('traceparent')) === undefined ? undefined : state
}
