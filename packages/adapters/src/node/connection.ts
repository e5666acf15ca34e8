import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { release, window } from './late-body.ts'

/** Milliseconds to wait for the rest of a discarded body, and for a client to read the last response. */
const patience = 1000

/** Maximum number of pipelined requests that wait on one connection. */
const deepest = 256

/** Maximum bytes of the pipelined requests that wait on one connection: a body of the usual limit, and as much of heads. */
const mostStored = 2 * window

const latest = Symbol('response to the latest request on this connection')
const before = Symbol('response that must be sent before this one')
const waiting = Symbol('number of queued requests')
const stored = Symbol('bytes of queued requests')

/**
 * Closes the write side first, and the read side after the client had time to read (RFC 9112 section 9.6). Bytes that
 * still arrive are discarded, because a reset would lose the response. Replaces Node's `destroySoon`, which follows the
 * last response and closes both sides together.
 */
function closeInStages(this: Socket): void {
  if (this.writableEnded) return
  this.end()
  // Node's parser would keep creating requests, each of which takes memory. Replacing its listener stops it.
  this.removeAllListeners('data')
  this.on('data', () => undefined)
  this.resume()
  const timer = setTimeout(() => this.destroy(), patience)
  this.once('close', () => clearTimeout(timer))
}

type Tracked = Socket & { [latest]?: Answer; [waiting]?: number; [stored]?: number }
type Answer = ServerResponse & { [before]?: Answer }

const settled = (res: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    res.once('finish', resolve)
    res.once('close', resolve)
  })

const letsGoOn = (res: ServerResponse): boolean => res.writableEnded && res.shouldKeepAlive

/** Bytes that an entry of `rawHeaders` takes in addition to its text, about (measured: 120 KB for 980 short lines). */
const entrySize = 32

const headSize = ({ url = '', rawHeaders }: IncomingMessage): number =>
  rawHeaders.reduce((size, { length }) => size + length + entrySize, url.length)

/**
 * Destroys the connection when the heads and bodies of its queued requests exceed 128 KiB in total. They are buffered,
 * and no other limit counts them.
 *
 * @returns a function that stops counting; call it when the request leaves the queue
 */
function countBytes(req: IncomingMessage, socket: Tracked): () => void {
  let bytes = 0
  const count = (size: number): void => {
    bytes += size
    socket[stored] = (socket[stored] ?? 0) + size
    if (socket[stored] > mostStored) socket.destroy()
  }
  const onData = ({ length }: Buffer): void => count(length)
  count(headSize(req))
  req.on('data', onData)
  return () => {
    req.off('data', onData)
    socket[stored] = (socket[stored] ?? 0) - bytes
  }
}

/**
 * Queues pipelined requests (RFC 9112 section 9.3.2). Returns `undefined` when the request can be processed now,
 * otherwise a promise. It resolves to `false` when an earlier response closes the connection: the request must then not
 * be processed, because its response could not be sent.
 */
export function turnOf(req: IncomingMessage, res: Answer): Promise<boolean> | undefined {
  // HTTP/2 has one stream per request.
  if (req.httpVersionMajor !== 1) return undefined
  const socket: Tracked = req.socket
  const earlier = socket[latest]
  if (earlier === undefined) socket.destroySoon = closeInStages
  else if (earlier.writableEnded && !letsGoOn(earlier)) return Promise.resolve(false)
  socket[latest] = res
  if (earlier === undefined || letsGoOn(earlier)) return undefined
  const depth = (socket[waiting] ?? 0) + 1
  socket[waiting] = depth
  // Queued requests take memory but do not count towards `maxRequests`: one connection could exhaust the memory.
  if (depth > deepest) socket.destroy()
  res[before] = earlier
  const forget = countBytes(req, socket)
  return settled(earlier).then(() => {
    socket[waiting] = (socket[waiting] ?? 1) - 1
    forget()
    delete res[before]
    return letsGoOn(earlier) && !socket.destroyed
  })
}

const whole = Symbol('body was read to its Content-Length')

/** Marks the body as complete before Node does. */
export function markWhole(req: IncomingMessage & { [whole]?: true }): void {
  req[whole] = true
}

/** Whether part of the body has not arrived yet. */
export const hasMore = (req: IncomingMessage & { [whole]?: true }): boolean =>
  req.httpVersionMajor === 1 && !req.complete && req[whole] === undefined

/** Reads and discards the rest of a body. */
export function discard(req: IncomingMessage): void {
  req.removeAllListeners('data')
  release(req)
}

/** Discards the rest of a body so that the connection can be reused. Closes the connection if that takes too long. */
export function skipRest(req: IncomingMessage): void {
  discard(req)
  const timer = setTimeout(() => req.socket.destroySoon(), patience)
  const stop = (): void => clearTimeout(timer)
  req.once('end', stop)
  req.once('close', stop)
}

const statuses: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
}

/** Returns the pending response to the last complete request, or `undefined`. */
function dueAnswer(socket: Tracked): ServerResponse | undefined {
  let answer = socket[latest]
  while (answer !== undefined && !answer.req.complete) answer = answer[before]
  return answer?.writableFinished ? undefined : answer
}

/**
 * Handles `clientError`: bytes that are not valid HTTP. Complete earlier requests get their response first; then the
 * connection closes.
 *
 * @returns the status of the refusal, or `undefined` when none was sent
 */
export function refuseBytes(error: Error & { readonly code?: string }, socket: Tracked): number | undefined {
  const due = dueAnswer(socket)
  if (due !== undefined) {
    due.shouldKeepAlive = false
    due.once('finish', () => socket.destroySoon())
    return undefined
  }
  socket.destroySoon = closeInStages
  if (!socket.writable || socket[latest]?.headersSent) {
    socket.destroySoon()
    return undefined
  }
  const body = '{"error":"invalid_request","error_description":"The request is not valid HTTP"}'
  const status = statuses[error.code ?? ''] ?? '400 Bad Request'
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    'cache-control: no-store',
    'pragma: no-cache',
    'x-content-type-options: nosniff',
    `content-length: ${body.length}`,
    'connection: close',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroySoon()
  return Number.parseInt(status, 10)
}
