import type { IncomingMessage } from 'node:http'

export type ReadResult = ReadableStreamReadResult<Uint8Array>

/** Bytes after which a chunk is passed to the reader, so that it can refuse the rest of the body. */
export const highWaterMark = 65_536

const initialSize = 1024

const done: ReadResult = { done: true, value: undefined }
const empty = Buffer.alloc(0)

const truncated = (): Error => new Error('The connection closed before the end of the request body')

/**
 * Applies backpressure to the client. Pausing only the stream is not enough: it would queue one object per chunk, and
 * 16,384 one-byte chunks take 4 MB (Node.js 20). So this pauses the socket, and keeps the stream from resuming it.
 */
function pause(incoming: IncomingMessage): void {
  // An HTTP/2 stream must not pause the socket that it shares with others.
  if (incoming.httpVersionMajor !== 1) {
    incoming.pause()
    return
  }
  incoming._read = () => undefined
  incoming.socket.pause()
}

/** Resumes the body after `pause`. */
export function resume(incoming: IncomingMessage): void {
  if (Object.hasOwn(incoming, '_read')) {
    // Restores the method of the class.
    Reflect.deleteProperty(incoming, '_read')
    incoming.socket.resume()
  }
  incoming.resume()
}

/**
 * Copies the rest of a body into one buffer as it arrives. Without the copy, every one-byte chunk would keep an object
 * of about 250 bytes. Use it only for bodies that have not arrived yet: events cost several times as much as one read.
 *
 * @param first the bytes that have arrived so far
 * @returns a function that reads the next chunk: the rest of the body, or at least 64 KiB of it
 */
export function bufferBody(incoming: IncomingMessage, first: Buffer | null): () => Promise<ReadResult> {
  let bytes = first ?? empty
  let size = bytes.length
  let failure = incoming.destroyed ? truncated() : undefined
  let ended = false
  let paused = false
  let waiting: { resolve(result: ReadResult): void; reject(error: Error): void } | undefined

  function append(chunk: Buffer): void {
    const needed = size + chunk.length
    if (needed > bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, initialSize, bytes.length * 2))
      bytes.copy(larger, 0, 0, size)
      bytes = larger
    }
    chunk.copy(bytes, size)
    size = needed
  }

  function settle(): void {
    if (waiting === undefined) return
    const { resolve, reject } = waiting
    if (failure !== undefined) reject(failure)
    else if (size > 0 && (ended || size >= highWaterMark)) {
      resolve({ done: false, value: bytes.subarray(0, size) })
      bytes = empty
      size = 0
    } else if (ended) resolve(done)
    else return
    waiting = undefined
  }

  incoming.on('data', (chunk: Buffer) => {
    append(chunk)
    settle()
    if (size < highWaterMark || paused) return
    paused = true
    pause(incoming)
  })
  incoming.on('end', () => {
    ended = true
    settle()
  })
  incoming.on('error', (error) => {
    failure ??= error
    settle()
  })
  incoming.on('close', () => {
    if (!ended) failure ??= truncated()
    settle()
  })
  return () =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject }
      settle()
      if (paused) resume(incoming)
      else if (waiting !== undefined) incoming.resume()
      paused = false
    })
}
