import type { IncomingMessage } from 'node:http'

export type Result = ReadableStreamReadResult<Uint8Array>

/** Bytes after which a body is handed over in part, so that its reader can refuse the rest. */
const window = 65_536

const done: Result = { done: true, value: undefined }

const cut = (): Error => new Error('The connection was closed before the body had ended')

/** Listens for what is still to come. Only for bodies that are not there yet: events cost several times what one look costs. */
export function listen(incoming: IncomingMessage, first: Buffer | null): () => Promise<Result> {
  let pieces: Buffer[] = first === null ? [] : [first]
  let size = first?.length ?? 0
  let failure = incoming.destroyed ? cut() : undefined
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
