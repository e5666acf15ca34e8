import type { ServerResponse } from 'node:http'
import { discardRest, isIncomplete } from './last-response.ts'
import { delegate } from './lazy-body.ts'

type Plain = Readonly<Record<string, string>>

interface LazyInit {
  readonly status?: number
  readonly headers?: Plain
}

/**
 * A cheap `Response` of a text and a record of headers, which the server writes unchanged. Any other member of the
 * interface creates a real `Response` and forwards to it.
 */
export class LazyResponse {
  readonly status: number
  readonly #body: string | null
  readonly #headers: Plain
  #real: Response | undefined

  constructor(body: string | null = null, { status = 200, headers = {} }: LazyInit = {}) {
    this.status = status
    this.#body = body
    this.#headers = headers
  }

  get real(): Response {
    this.#real ??= new Response(this.#body, { status: this.status, headers: this.#headers })
    return this.#real
  }

  /** The text and headers passed to the constructor; `undefined` if they may have been changed or read since. */
  get plain(): { readonly body: string | null; readonly headers: Plain } | undefined {
    return this.#real === undefined ? { body: this.#body, headers: this.#headers } : undefined
  }
}

delegate(LazyResponse, Response)
Object.setPrototypeOf(LazyResponse, Response)

/** RFC 9110 sections 6.4.1 and 8.6: these statuses have neither a body nor a `Content-Length`. */
const hasNoBody = (status: number): boolean => status === 204 || status === 304

/** Sends a complete response. `headers` is a flat list: name, value, name, value. */
function sendWhole(res: ServerResponse, status: number, headers: string[], body: string | Uint8Array): void {
  const unread = isIncomplete(res.req)
  // Do not wait for the rest of an oversized body.
  if (status === 413) res.shouldKeepAlive = false
  // For HEAD, the length is unknown: the handler omitted the body.
  if (res.req.method !== 'HEAD' && !hasNoBody(status)) {
    headers.push('content-length', String(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength))
  }
  res.writeHead(status, headers)
  res.end(body)
  if (unread) discardRest(res.req)
}

/** A text response. */
interface Text {
  readonly body: string | null
  readonly headers: Readonly<Record<string, string>>
}

export function sendText(res: ServerResponse, status: number, { body, headers }: Text): void {
  const lines: string[] = []
  for (const name in headers) lines.push(name, headers[name] ?? '')
  sendWhole(res, status, lines, body ?? '')
}

const drained = (res: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const settle = (): void => {
      res.off('drain', settle)
      res.off('close', settle)
      resolve()
    }
    res.on('drain', settle)
    res.on('close', settle)
  })

// Iteration yields each `set-cookie` separately. The server computes the length and the framing itself.
const linesOf = ({ headers }: Response): string[] =>
  [...headers].filter(([name]) => name !== 'content-length' && name !== 'transfer-encoding').flat()

async function sendResponse(res: ServerResponse, response: Response): Promise<void> {
  const { status, body } = response
  const reader = body?.getReader()
  const first = await reader?.read()
  let next = first?.done === false ? await reader?.read() : first
  if (reader === undefined || next === undefined || next.done) {
    return sendWhole(res, status, linesOf(response), first?.value ?? '')
  }
  if (isIncomplete(res.req)) res.shouldKeepAlive = false
  res.writeHead(status, linesOf(response))
  res.write(first?.value)
  for (; !next.done; next = await reader.read()) {
    if (res.destroyed) return reader.cancel()
    if (!res.write(next.value)) await drained(res)
  }
  res.end()
}

/** Writes a response. Rejects when its body fails; the caller then sends an error or closes the connection. */
export function send(res: ServerResponse, response: Response): void | Promise<void> {
  const plain = response instanceof LazyResponse ? response.plain : undefined
  return plain === undefined ? sendResponse(res, response) : sendText(res, response.status, plain)
}
