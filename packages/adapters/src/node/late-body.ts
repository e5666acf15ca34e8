import type { IncomingMessage } from 'node:http'

export type Result = ReadableStreamReadResult<Uint8Array>

/** Bytes after which a body is handed over in part, so that its reader can refuse the rest. */
export const window = 65_536

const smallest = 1024

const done: Result = { done: true, value: undefined }
const nothing = Buffer.alloc(0)

const cut = (): Error => new Error('The connection was closed before the body had ended')

/**
 * Makes the client wait. Not by `pause()`: a paused stream queues what the parser makes of the bytes, one object a chunk, and 16,384 chunks of one byte
 * take 4 MB (Node.js 20). So the socket pauses, and the stream must not start it again.
 */
function hold(incoming: IncomingMessage): void {
  // The socket of an HTTP/2 stream cannot be paused.
  if (incoming.httpVersionMajor !== 1) {
    incoming.pause()
    return
  }
  incoming._read = () => undefined
  incoming.socket.pause()
}

/** Lets the body go on, if it was held. */
export function release(incoming: IncomingMessage): void {
  if (Object.hasOwn(incoming, '_read')) {
    // The method of the class again.
    Reflect.deleteProperty(incoming, '_read')
    incoming.socket.resume()
  }
  incoming.resume()
}

/**
 * Takes in the rest of a body as it arrives, and copies it into one buffer: each chunk of one byte would otherwise keep an object of some 250 bytes. Only for
 * bodies that have not arrived yet: events cost several times what one look costs.
 *
 * @param first what has arrived so far
 * @returns reads the next part: the rest of the body, or at least 64 KiB of it
 */
export function receive(incoming: IncomingMessage, first: Buffer | null): () => Promise<Result> {
  let bytes = first ?? nothing
  let size = bytes.length
  let failure = incoming.destroyed ? cut() : undefined
  let ended = false
  let held = false
  let waiting: { resolve(result: Result): void; reject(error: Error): void } | undefined

  function append(piece: Buffer): void {
    const needed = size + piece.length
    if (needed > bytes.length) {
      const roomy = Buffer.allocUnsafeSlow(Math.max(needed, smallest, bytes.length * 2))
      bytes.copy(roomy, 0, 0, size)
      bytes = roomy
    }
    piece.copy(bytes, size)
    size = needed
  }

  function settle(): void {
    if (waiting === undefined) return
    const { resolve, reject } = waiting
    if (failure !== undefined) reject(failure)
    else if (size > 0 && (ended || size >= window)) {
      resolve({ done: false, value: bytes.subarray(0, size) })
      bytes = nothing
      size = 0
    } else if (ended) resolve(done)
    else return
    waiting = undefined
  }

  incoming.on('data', (piece: Buffer) => {
    append(piece)
    settle()
    if (size < window || held) return
    held = true
    hold(incoming)
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
    if (!ended) failure ??= cut()
    settle()
  })
  return () =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject }
      settle()
      if (held) release(incoming)
      else if (waiting !== undefined) incoming.resume()
      held = false
    })
}
