import { connect } from 'node:net'
import { lastResort } from '../support/eventually.ts'

/** A parsed HTTP response, without its framing. */
export interface ReceivedResponse {
  readonly status: number
  /** By lower-case name. Repeated headers are joined with a comma. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

function unchunked(bytes: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let start = 0; ; ) {
    const end = bytes.indexOf('\r\n', start)
    const size = Number.parseInt(bytes.toString('latin1', start, end), 16)
    if (end < 0 || Number.isNaN(size)) throw new Error('malformed chunked body')
    if (size === 0) return Buffer.concat(parts)
    parts.push(bytes.subarray(end + 2, end + 2 + size))
    start = end + 2 + size + 2
  }
}

/**
 * Parses the bytes of one HTTP/1.1 response.
 *
 * @throws Error if there is no status line, or a chunk is malformed.
 */
export function parseResponse(bytes: Buffer): ReceivedResponse {
  const end = bytes.indexOf('\r\n\r\n')
  const [first = '', ...lines] = bytes.toString('latin1', 0, Math.max(0, end)).split('\r\n')
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/u.exec(first)?.[1]
  if (status === undefined)
    throw new Error(`not an HTTP response: ${JSON.stringify(bytes.toString('latin1').slice(0, 200))}`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase()
    const value = line.slice(line.indexOf(':') + 1).trim()
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value)
  }
  const rest = bytes.subarray(end + 4)
  const body = headers.get('transfer-encoding') === 'chunked' ? unchunked(rest) : rest
  return { status: Number(status), headers, body: body.toString('utf8') }
}

/** Sends bytes to a loopback port, reads until the server closes the connection and returns the response. */
export function exchange(port: number, request: Buffer): Promise<ReceivedResponse> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const parts: Buffer[] = []
    let failure: Error | undefined
    socket.setTimeout(lastResort, () => socket.destroy(new Error(`no response and no close within ${lastResort} ms`)))
    socket.on('data', (part) => parts.push(part))
    socket.on('error', (error) => {
      failure = error
    })
    socket.on('close', () => {
      try {
        resolve(parseResponse(Buffer.concat(parts)))
      } catch (error) {
        reject(failure ?? error)
      }
    })
    socket.write(request)
  })
}
