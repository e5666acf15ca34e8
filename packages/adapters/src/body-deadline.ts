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

/** A request whose body comes through a stream of our own: neither Bun nor Deno lets a body time out that trickles. */
export function withBodyDeadline(request: Request, seconds: number): TimedRequest {
  const { url, method, headers, body } = request
  if (body === null || bodiless.has(method.toUpperCase())) return { request, isLate: () => false, forget: () => {} }
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader()
  let late = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late = true
      reject(new TypeError(`the body was not complete within ${seconds} s`))
    }, seconds * 1000)
  })
  // Nobody may be reading when it comes.
  deadline.catch(() => {})
  const forget = (): void => clearTimeout(timer)
  const timed = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await Promise.race([reader.read(), deadline])
        if (!done) return controller.enqueue(value)
        forget()
        controller.close()
      },
    },
    // Nothing is read ahead: the provider stops at its limit.
    { highWaterMark: 0 },
  )
  // Member by member: whoever copies the signal asks for it, and Deno then warns that it aborts after success too.
  const init: RequestInit & { readonly duplex: 'half' } = { method, headers, body: timed, duplex: 'half' }
  return { request: new Request(url, init), isLate: () => late, forget }
}
