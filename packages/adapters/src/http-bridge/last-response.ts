import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { resume } from './body-buffer.ts'

/** Milliseconds to wait for the rest of a discarded body, and for a client to read the last response. */
const lingerTime = 1000

/**
 * Closes the write side first, and the read side after the client had time to read (RFC 9112 section 9.6). Bytes that
 * still arrive are discarded, because a reset would lose the response. Replaces Node's `destroySoon`, which follows the
 * last response and closes both sides together.
 */
export function lingeringClose(this: Socket): void {
  if (this.writableEnded) return
  this.end()
  // Node's parser would keep creating requests, each of which takes memory. Replacing its listener stops it.
  this.removeAllListeners('data')
  this.on('data', () => undefined)
  this.resume()
  const timer = setTimeout(() => this.destroy(), lingerTime)
  this.once('close', () => clearTimeout(timer))
}

const complete = Symbol('body was read to its Content-Length')

/** Marks the body as complete before Node does. */
export function markComplete(req: IncomingMessage & { [complete]?: true }): void {
  req[complete] = true
}

/** Whether part of the body has not arrived yet. */
export const isIncomplete = (req: IncomingMessage & { [complete]?: true }): boolean =>
  req.httpVersionMajor === 1 && !req.complete && req[complete] === undefined

/** Reads and discards the rest of a body. */
export function discard(req: IncomingMessage): void {
  req.removeAllListeners('data')
  resume(req)
}

/** Discards the rest of a body so that the connection can be reused. Closes the connection if that takes too long. */
export function discardRest(req: IncomingMessage): void {
  discard(req)
  const timer = setTimeout(() => req.socket.destroySoon(), lingerTime)
  const stop = (): void => clearTimeout(timer)
  req.once('end', stop)
  req.once('close', stop)
}
