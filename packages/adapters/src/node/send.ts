import type { ServerResponse } from 'node:http'
import { LightResponse } from './light-response.ts'

/** RFC 9110 sections 6.4.1 and 8.6: these have no body and name no length of one. */
const hasNoBody = (status: number): boolean => status === 204 || status === 304

/** RFC 9112 section 9.6: the rest of an oversized body is not read, so the connection cannot serve another request. */
const isLast = (res: ServerResponse, status: number): boolean => status === 413 && res.req.httpVersionMajor === 1

function sendText(
  res: ServerResponse,
  status: number,
  { body, headers }: { readonly body: string | null; readonly headers: Readonly<Record<string, string>> },
): void {
  if (hasNoBody(status)) {
    res.writeHead(status, headers)
    res.end()
    return
  }
  const text = body ?? ''
  const lines: string[] = []
  for (const name in headers) lines.push(name, headers[name] ?? '')
  // A HEAD request hears no length: the handler left the text out.
  if (res.req.method !== 'HEAD') lines.push('content-length', String(Buffer.byteLength(text)))
  if (isLast(res, status)) lines.push('connection', 'close')
  res.writeHead(status, lines)
  res.end(text)
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

/** Any other response: what a host's own handler around the provider answers with. */
async function sendStream(res: ServerResponse, response: Response): Promise<void> {
  const headers: Record<string, string | string[]> = Object.fromEntries(response.headers)
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  res.writeHead(response.status, isLast(res, response.status) ? { ...headers, connection: 'close' } : headers)
  const reader = response.body?.getReader()
  if (reader === undefined || res.req.method === 'HEAD') {
    await reader?.cancel()
    res.end()
    return
  }
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    if (res.destroyed) return reader.cancel()
    if (!res.write(value)) await drained(res)
  }
  res.end()
}

/** Writes a response. Rejects when its body fails; what was not sent yet is then the caller's affair. */
export function send(res: ServerResponse, response: Response): void | Promise<void> {
  const plain = response instanceof LightResponse ? response.plain : undefined
  return plain === undefined ? sendStream(res, response) : sendText(res, response.status, plain)
}
