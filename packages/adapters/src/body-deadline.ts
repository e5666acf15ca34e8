import type { BodyReader } from './light-body.ts'
import { LightTimedReader, type WhileWaiting } from './light-timed-reader.ts'
import { LightTimedRequest } from './light-timed-request.ts'

/** A request whose body either ends within the deadline or fails. */
export interface TimedRequest {
  readonly request: Request
  /** Whether the body missed the deadline. */
  isLate(): boolean
  /** Cancels the deadline. */
  forget(): void
}

// `new Request()` rejects a body for these methods, and no endpoint reads one.
const bodiless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'CONNECT', 'TRACE', 'TRACK'])

/** Wraps `request` so that reading its body fails after `seconds`, counted from the first read. */
export function withBodyDeadline(request: Request, seconds: number, whileWaiting: WhileWaiting): TimedRequest {
  const { method, body } = request
  if (body === null || bodiless.has(method.toUpperCase())) return { request, isLate: () => false, forget: () => {} }
  const reader = new LightTimedReader(body, seconds, whileWaiting)
  return {
    request: new LightTimedRequest(request, reader as unknown as BodyReader) as unknown as Request,
    isLate: () => reader.isLate,
    forget: () => reader.forget(),
  }
}
