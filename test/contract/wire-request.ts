/** A request that is sent as bytes over HTTP or converted to a `Request`. */
export interface WireRequest {
  /** Default GET. */
  readonly method?: string
  /** The request target, sent unchanged. */
  readonly target: string
  /** In order; a name can repeat. Without `host`, the host of the server is sent. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
  readonly body?: string | Uint8Array<ArrayBuffer>
  /** The framing of the body. Default: `length`, which sends Content-Length. */
  readonly framing?: 'length' | 'chunked'
}

const encoder = new TextEncoder()
const chunkSize = 16_384

const contentOf = ({ body }: WireRequest): Uint8Array<ArrayBuffer> | undefined =>
  typeof body === 'string' ? encoder.encode(body) : body

function chunked(body: Uint8Array): Buffer {
  const parts: Uint8Array[] = []
  for (let start = 0; start < body.length; start += chunkSize) {
    const piece = body.subarray(start, start + chunkSize)
    parts.push(encoder.encode(`${piece.length.toString(16)}\r\n`), piece, encoder.encode('\r\n'))
  }
  return Buffer.concat([...parts, encoder.encode('0\r\n\r\n')])
}

/** Returns the bytes of an HTTP/1.1 request with `Connection: close`. */
export function bytesOf(request: WireRequest, host: string): Buffer {
  const { method = 'GET', target, headers = [], framing } = request
  const named = headers.some(([name]) => name.toLowerCase() === 'host')
  const content = contentOf(request)
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(named ? [] : [`Host: ${host}`]),
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ]
  if (content !== undefined) {
    lines.push(framing === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${content.length}`)
  }
  const head = encoder.encode(`${lines.join('\r\n')}\r\n\r\n`)
  if (content === undefined) return Buffer.from(head)
  return Buffer.concat([head, framing === 'chunked' ? chunked(content) : content])
}

/** Converts the request to a `Request` for a handler in this process. */
export function requestOf(request: WireRequest): Request {
  const { method = 'GET', target, headers = [], framing } = request
  const list = new Headers()
  for (const [name, value] of headers) list.append(name, value)
  const content = contentOf(request)
  if (content !== undefined && framing !== 'chunked') list.set('content-length', String(content.length))
  return new Request(`https://any.example${target}`, { method, headers: list, ...(content && { body: content }) })
}
