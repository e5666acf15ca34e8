import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { release, window } from './late-body.ts'

/** Milliseconds that the rest of a body may take which nobody wants, and that a caller has to read an answer before its connection is cut. */
const patience = 1000

/** Requests that may wait on one connection for those before them. */
const deepest = 256

const latest = Symbol('the answer to the latest request of this connection')
const before = Symbol('the answer that this one waits for')
const waiting = Symbol('requests that wait for their turn')
const stored = Symbol('bytes of the bodies of requests that wait for their turn')

/**
 * RFC 9112 section 9.6: our end first, and the other one when the caller has had time to read. What it still sends is read and thrown away: a reset
 * would take the answer from it. Stands in for Node's `destroySoon`, which follows the last answer and ends both at once.
 */
function closeInStages(this: Socket): void {
  if (this.writableEnded) return
  this.end()
  // Node's parser would go on making requests of it, each of which holds memory. With a listener of ours the socket feeds it no longer.
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

/**
 * Cuts a connection whose waiting requests bring more bytes than one body may: they are stored, and no other limit counts them.
 *
 * @returns stops counting, when the request has its turn
 */
function countBody(req: IncomingMessage, socket: Tracked): () => void {
  let bytes = 0
  const count = ({ length }: Buffer): void => {
    bytes += length
    socket[stored] = (socket[stored] ?? 0) + length
    if (socket[stored] > window) socket.destroy()
  }
  req.on('data', count)
  return () => {
    req.off('data', count)
    socket[stored] = (socket[stored] ?? 0) - bytes
  }
}

/**
 * The turn of a request among those that were sent on one connection without waiting. `undefined`: it has it. Else a promise, `false` when the
 * connection ends with an earlier answer: what comes behind a refused request must not be done in silence.
 */
export function turnOf(req: IncomingMessage, res: Answer): Promise<boolean> | undefined {
  // HTTP/2 has a stream for each request.
  if (req.httpVersionMajor !== 1) return undefined
  const socket: Tracked = req.socket
  const earlier = socket[latest]
  if (earlier === undefined) socket.destroySoon = closeInStages
  else if (earlier.writableEnded && !letsGoOn(earlier)) return Promise.resolve(false)
  socket[latest] = res
  if (earlier === undefined || letsGoOn(earlier)) return undefined
  const depth = (socket[waiting] ?? 0) + 1
  socket[waiting] = depth
  // Each holds memory, and none is under way: without a bound one connection could fill the process.
  if (depth > deepest) socket.destroy()
  res[before] = earlier
  const forget = countBody(req, socket)
  return settled(earlier).then(() => {
    socket[waiting] = (socket[waiting] ?? 1) - 1
    forget()
    delete res[before]
    return letsGoOn(earlier) && !socket.destroyed
  })
}

const whole = Symbol('the body was read to its announced length')

/** Says that nothing of the body is to come, though Node has not said so yet. */
export function markWhole(req: IncomingMessage & { [whole]?: true }): void {
  req[whole] = true
}

/** Whether more of a body is to come than was wanted for the answer. */
export const hasMore = (req: IncomingMessage & { [whole]?: true }): boolean =>
  req.httpVersionMajor === 1 && !req.complete && req[whole] === undefined

/** Reads the rest of a body and throws it away. */
export function discard(req: IncomingMessage): void {
  req.removeAllListeners('data')
  release(req)
}

/** After an answer that lets the connection live: as long as the caller does not send for ever. */
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

/** The last request that came in as a whole and is not answered yet. */
function dueAnswer(socket: Tracked): ServerResponse | undefined {
  let answer = socket[latest]
  while (answer !== undefined && !answer.req.complete) answer = answer[before]
  return answer?.writableFinished ? undefined : answer
}

/**
 * For `clientError`: bytes that are no HTTP. What was understood before them is answered first, and then the connection ends.
 *
 * @returns the status of the refusal, where there was one to be sent
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
