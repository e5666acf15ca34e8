import type { IncomingMessage } from 'node:http'
import { finished } from 'node:stream/promises'

type Result = ReadableStreamReadResult<Uint8Array>

/** Is told of every wait for what has not come in yet. */
export type WhileWaiting = <T>(arrival: Promise<T>) => Promise<T>

/** Bytes after which a body is handed over in part, so that its reader can refuse the rest. */
const window = 65_536

const done: Result = { done: true, value: undefined }
const atEnd = Promise.resolve(done)

const cut = (): Error => new Error('The connection was closed before the body had ended')

/** Listens for what is still to come. Only for bodies that are not there yet: events cost several times what one look costs. */
function listen(incoming: IncomingMessage, first: Buffer | null): () => Promise<Result> {
  let pieces: Buffer[] = first === null ? [] : [first]
  let size = first?.length ?? 0
  let failure: Error | undefined
  let ended = false
  let waiting: { resolve(result: Result): void; reject(error: Error): void } | undefined

  function settle(): void {
    if (waiting === undefined) return
    const { resolve, reject } = waiting
    if (failure !== undefined) reject(failure)
    else if (size > 0 && (ended || size >= window)) {
      resolve({ done: false, value: Buffer.concat(pieces, size) })
      pieces = []
      size = 0
    } else if (ended) resolve(done)
    else return
    waiting = undefined
  }

  incoming.on('data', (piece: Buffer) => {
    pieces.push(piece)
    size += piece.length
    if (size >= window) incoming.pause()
    settle()
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
      if (waiting !== undefined) incoming.resume()
    })
}

/**
 * Reads a body straight from the connection. The whole of a small one comes in one piece; a larger one in pieces, and no more of it is taken than is
 * asked for. Rejects when the connection ends before the body does.
 */
export function createBodyReader(
  incoming: IncomingMessage,
  whileWaiting: WhileWaiting,
): ReadableStreamDefaultReader<Uint8Array> {
  let ended = false
  let next: (() => Promise<Result>) | undefined

  async function readFirst(): Promise<Result> {
    // The head is told of before the rest of its packet is parsed; one microtask later a small body is there, and no event is needed.
    await undefined
    const piece = incoming.read() as Buffer | null
    if (incoming.complete) {
      ended = true
      return piece === null ? done : { done: false, value: piece }
    }
    if (incoming.destroyed) throw cut()
    next = listen(incoming, piece)
    return whileWaiting(next())
  }

  return {
    read() {
      if (ended) return atEnd
      return next === undefined ? readFirst() : whileWaiting(next())
    },
    async cancel() {
      ended = true
      incoming.resume()
    },
    releaseLock() {
      // A light body has one reader for its life.
    },
    get closed() {
      return finished(incoming, { writable: false }).then(() => undefined)
    },
  }
}
