import type { BodyReader } from './light-body.ts'
import { LightTimedReader, type WhileWaiting } from './light-timed-reader.ts'
import { LightTimedRequest } from './light-timed-request.ts'

/** A request whose body ends in time, or with an error. */
export interface TimedRequest {
  readonly request: Request
  /** Whether the body was late. */
  isLate(): boolean
  /** The body is not waited for any more. */
  forget(): void
}

// No `Request` with a body can be made with these, and no endpoint reads one.
const bodiless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'CONNECT', 'TRACE', 'TRACK'])

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
