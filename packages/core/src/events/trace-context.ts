import { hex } from '../encoding.ts'
import type { Runtime } from '../runtime.ts'

/** The place of one request in a trace that may reach over several services. Everything in it is lower-case hex, whoever sent it. */
export interface TraceContext {
  /** 32 hex digits: the same for every service that the request passes. */
  readonly traceId: string
  /** 16 hex digits: this service's part. */
  readonly spanId: string
  /** The caller's part, where the request continues a trace. */
  readonly parentSpanId?: string
  /** 0 to 3: bit 0 sampled, bit 1 random trace id. */
  readonly flags: number
}

/** A valid `traceparent`, read. */
export interface TraceParent {
  readonly traceId: string
  readonly parentSpanId: string
  readonly flags: number
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/u
const versionZeroLength = 55
// Bits without a meaning are not passed on: W3C Trace Context, "Other Flags".
const knownFlags = 3

/**
 * What a `traceparent` header says, or `undefined` where it is absent or invalid and the request starts a trace of its own.
 *
 * @see https://www.w3.org/TR/trace-context/ sections 3.2 and 4.3; Level 2 for the random flag
 */
export function parseTraceparent(header: string | null | undefined): TraceParent | undefined {
  const [, version, traceId = '', parentSpanId = '', flags = ''] = form.exec(header ?? '') ?? []
  if (version === undefined || version === 'ff') return undefined
  // A later version may append fields after a dash; this one may not.
  if (version === '00' && header?.length !== versionZeroLength) return undefined
  if (/^0+$/u.test(traceId) || /^0+$/u.test(parentSpanId)) return undefined
  return { traceId, parentSpanId, flags: Number.parseInt(flags, 16) & knownFlags }
}

/** What a response, or a call to another service, carries: version 00. */
export const traceparentOf = ({ traceId, spanId, flags }: TraceContext): string => `00-${traceId}-${spanId}-0${flags}`

const traceIdLength = 16
const spanIdLength = 8
const randomTraceId = 2

/** Continues the trace that a request names, or starts one: not sampled, because nobody has asked for that. */
export function openTraceContext(headers: Headers, runtime: Pick<Runtime, 'randomBytes'>): TraceContext {
  const parent = parseTraceparent(headers.get('traceparent'))
  if (parent !== undefined) return { ...parent, spanId: hex(runtime.randomBytes(spanIdLength)) }
  const digits = hex(runtime.randomBytes(traceIdLength + spanIdLength))
  return { traceId: digits.slice(0, 2 * traceIdLength), spanId: digits.slice(2 * traceIdLength), flags: randomTraceId }
}

/** Characters of a `tracestate` that every service must pass on; a longer one may be dropped (W3C Trace Context, section 3.3.1.5). */
const tracestateLength = 512

/** The `tracestate` to pass on with a continued trace; without a valid `traceparent` it means nothing and is dropped. */
export function tracestateOf(headers: Headers): string | undefined {
  const state = headers.get('tracestate')
  if (state === null || state.length > tracestateLength || !/^[\t\x20-\x7E]+$/u.test(state)) return undefined
  return parseTraceparent(headers.get('traceparent')) === undefined ? undefined : state
}
