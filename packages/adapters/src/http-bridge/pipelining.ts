import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { highWaterMark } from './body-buffer.ts'
import { lingeringClose } from './last-response.ts'

/** Maximum number of pipelined requests that wait on one connection. */
const maxWaiting = 256

/**
 * Maximum bytes of the pipelined requests that wait on one connection: one body of the default limit, and as many bytes
 * of heads.
 */
const maxBytes = 2 * highWaterMark

/** Approximate bytes of an entry of `rawHeaders` besides its text (measured: 120 KB for 980 short lines). */
const entrySize = 32

/** The pipelined requests of a connection. */
interface Pipeline {
  /** The response to the latest request. */
  latest: QueuedResponse
  /** Requests that wait for earlier responses. */
  waiting: number
  /** Bytes of the waiting requests. */
  bytes: number
}

const pipeline = Symbol('pipelined requests of this connection')
const previous = Symbol('response that must be sent before this one')

type TrackedSocket = Socket & { [pipeline]?: Pipeline }
type QueuedResponse = ServerResponse & { [previous]?: QueuedResponse }

const settled = (res: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    res.once('finish', resolve)
    res.once('close', resolve)
  })

const keepsAlive = (res: ServerResponse): boolean => res.writableEnded && res.shouldKeepAlive

const headSize = ({ url = '', rawHeaders }: IncomingMessage): number =>
  rawHeaders.reduce((size, { length }) => size + length + entrySize, url.length)

/**
 * Destroys the connection when the heads and bodies of its waiting requests exceed `maxBytes` in total. They are
 * buffered, and no other limit counts them.
 *
 * @returns a function that stops counting; call it when the request no longer waits
 */
function countBytes(queue: Pipeline, req: IncomingMessage): () => void {
  let bytes = 0
  const count = (size: number): void => {
    bytes += size
    queue.bytes += size
    if (queue.bytes > maxBytes) req.socket.destroy()
  }
  const onData = ({ length }: Buffer): void => count(length)
  count(headSize(req))
  req.on('data', onData)
  return () => {
    req.off('data', onData)
    queue.bytes -= bytes
  }
}

/**
 * Queues pipelined requests (RFC 9112 section 9.3.2). Returns `undefined` when the request can be processed now,
 * otherwise a promise. It resolves to `false` when an earlier response closes the connection: the request must then not
 * be processed, because its response could not be sent.
 */
export function waitForTurn(req: IncomingMessage, res: QueuedResponse): Promise<boolean> | undefined {
  // HTTP/2 has one stream per request.
  if (req.httpVersionMajor !== 1) return undefined
  const socket: TrackedSocket = req.socket
  const queue = socket[pipeline]
  if (queue === undefined) {
    socket.destroySoon = lingeringClose
    socket[pipeline] = { latest: res, waiting: 0, bytes: 0 }
    return undefined
  }
  const earlier = queue.latest
  if (earlier.writableEnded && !earlier.shouldKeepAlive) return Promise.resolve(false)
  queue.latest = res
  if (keepsAlive(earlier)) return undefined
  queue.waiting += 1
  // Waiting requests take memory but do not count towards `maxRequests`: one connection could exhaust the memory.
  if (queue.waiting > maxWaiting) socket.destroy()
  res[previous] = earlier
  const stopCounting = countBytes(queue, req)
  return settled(earlier).then(() => {
    queue.waiting -= 1
    stopCounting()
    delete res[previous]
    return keepsAlive(earlier) && !socket.destroyed
  })
}

/** Returns the response to the latest request on the connection. */
export const latestResponse = (socket: TrackedSocket): ServerResponse | undefined => socket[pipeline]?.latest

/** Returns the pending response to the last complete request, or `undefined`. */
export function pendingResponse(socket: TrackedSocket): ServerResponse | undefined {
  let response = socket[pipeline]?.latest
  while (response !== undefined && !response.req.complete) response = response[previous]
  return response?.writableFinished ? undefined : response
}
