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

/** A request whose body must be there in so many seconds, counted from its first read: neither Bun nor Deno lets a body time out that trickles. */
export function withBodyDeadline(request: Request, seconds: number): TimedRequest {
  const { method, body } = request
  if (body === null || bodiless.has(method.toUpperCase())) return { request, isLate: () => false, forget: () => {} }
  let late = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let fail: (cause: Error) => void = () => {}
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  const read = (): Promise<ReadableStreamReadResult<Uint8Array>> => {
    reader ??= body.getReader()
    timer ??= setTimeout(() => {
      late = true
      fail(new TypeError(`the body was not complete within ${seconds} s`))
    }, seconds * 1000)
    const reading = reader.read()
    return new Promise((resolve, reject) => {
      fail = reject
      reading.then(resolve, reject)
    })
  }
  return {
    request: new LightTimedRequest(request, read) as unknown as Request,
    isLate: () => late,
    forget: () => clearTimeout(timer),
  }
}
