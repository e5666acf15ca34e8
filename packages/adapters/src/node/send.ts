import type { ServerResponse } from 'node:http'
import { hasMore, skipRest } from './connection.ts'
import { LightResponse } from './light-response.ts'

/** RFC 9110 sections 6.4.1 and 8.6: these have no body and name no length of one. */
const hasNoBody = (status: number): boolean => status === 204 || status === 304

/** An answer that is there as a whole, with its headers as a flat list: name, value, name, value. */
function sendWhole(res: ServerResponse, status: number, headers: string[], body: string | Uint8Array): void {
  const unread = hasMore(res.req)
  // The rest of an oversized body is not waited for.
  if (status === 413) res.shouldKeepAlive = false
  // A HEAD request hears no length: the handler left the body out.
  if (res.req.method !== 'HEAD' && !hasNoBody(status)) {
    headers.push('content-length', String(typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength))
  }
  res.writeHead(status, headers)
  res.end(body)
  if (unread) skipRest(res.req)
}

/** What is written at once. */
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

// `entries()` gives each `set-cookie` for itself. The length is counted anew, and how the body is framed is the server's affair.
const linesOf = ({ headers }: Response): string[] =>
  [...headers].filter(([name]) => name !== 'content-length' && name !== 'transfer-encoding').flat()

/** A response of the platform: what a provider without `nodeRuntime` answers with, or a host's own handler around it. */
async function sendResponse(res: ServerResponse, response: Response): Promise<void> {
  const { status, body } = response
  const reader = body?.getReader()
  const first = await reader?.read()
  let next = first?.done === false ? await reader?.read() : first
  if (reader === undefined || next === undefined || next.done) {
    return sendWhole(res, status, linesOf(response), first?.value ?? '')
  }
  if (hasMore(res.req)) res.shouldKeepAlive = false
  res.writeHead(status, linesOf(response))
  res.write(first?.value)
  for (; !next.done; next = await reader.read()) {
    if (res.destroyed) return reader.cancel()
    if (!res.write(next.value)) await drained(res)
  }
  res.end()
}

/** Writes a response. Rejects when its body fails; what was not sent yet is then the caller's affair. */
export function send(res: ServerResponse, response: Response): void | Promise<void> {
  const plain = response instanceof LightResponse ? response.plain : undefined
  return plain === undefined ? sendResponse(res, response) : sendText(res, response.status, plain)
}
