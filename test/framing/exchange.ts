import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { lastResort } from '../support/eventually.ts'
import { pause } from '../support/pause.ts'

/**
 * Bytes (text is latin1), milliseconds to wait, milliseconds for which the whole process blocks and reads nothing, or
 * the wait for the first bytes of a response.
 */
export type Piece = string | Buffer | number | Deaf | typeof response
export const response = Symbol('response')
export interface Deaf {
  readonly deaf: number
}

/** Where a server listens; a port alone is one without TLS. */
export interface Target {
  readonly port: number
  readonly overTls?: boolean | undefined
}

/** What the client does when everything is sent: wait for the server to close, half-close, or disconnect. */
export type Afterwards = 'wait' | 'half-close' | 'cut'

export interface Exchange {
  /** Everything that the server sent, as latin1. */
  readonly text: string
  /** How the connection ended; `open`: it did not end in time. */
  readonly end: 'closed' | 'reset' | 'cut' | 'open'
  readonly bytesSent: number
}

export interface ExchangeOptions {
  readonly afterwards?: Afterwards
  /** Seconds until the exchange is aborted. */
  readonly seconds?: number
  readonly eachByteAlone?: boolean
}

export const bytesOf = (piece: Piece): number =>
  typeof piece === 'string' || Buffer.isBuffer(piece) ? piece.length : 0

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Waits until the socket accepts or has received more bytes, or has closed. */
const next = (socket: Socket, event: 'drain' | 'data'): Promise<void> =>
  new Promise((resolve) => {
    const settle = (): void => {
      socket.off(event, settle)
      socket.off('close', settle)
      resolve()
    }
    socket.once(event, settle)
    socket.once('close', settle)
  })

/** Blocks the whole process. */
export const standStill = (milliseconds: number): unknown =>
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

async function send(socket: Socket, pieces: Iterable<Piece>, eachByteAlone: boolean): Promise<void> {
  let unheard = 0
  for (const piece of pieces) {
    if (socket.destroyed || socket.readableEnded) return
    // Yields regularly: otherwise the loop would never read a response that has already arrived.
    unheard += bytesOf(piece)
    if (unheard > 65_536) {
      unheard = 0
      await turn()
    }
    if (typeof piece === 'number') {
      await pause(piece)
      continue
    }
    if (piece === response) {
      await next(socket, 'data')
      continue
    }
    if (typeof piece === 'object' && 'deaf' in piece) {
      standStill(piece.deaf)
      continue
    }
    const bytes = typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece
    const size = eachByteAlone ? 1 : bytes.length
    for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
      if (!socket.write(bytes.subarray(at, at + size))) await next(socket, 'drain')
      if (eachByteAlone) await turn()
    }
  }
}

/** Opens a connection and calls `ready` when it can send. */
function open(target: Target | number, ready: () => void): Socket {
  const { port, overTls } = typeof target === 'number' ? { port: target, overTls: false } : target
  const options = { port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true }
  return overTls ? connectTls({ ...options, rejectUnauthorized: false }, ready) : connect(options, ready)
}

/** A connection on which bytes are sent. */
export interface ExchangeInProgress {
  /** Resolves when everything is sent, or nothing more can be. */
  readonly sent: Promise<void>
  readonly ended: Promise<Exchange>
  /** Everything received so far. */
  received(): string
  /** Closes the connection, if it is still open. */
  abort(): void
}

/** Sends raw bytes on a new connection. */
export function beginExchange(
  target: Target | number,
  pieces: Iterable<Piece>,
  { afterwards = 'wait', seconds = lastResort / 1000, eachByteAlone = false }: ExchangeOptions = {},
): ExchangeInProgress {
  let begin = (): void => {}
  const ready = new Promise<void>((resolve) => {
    begin = resolve
  })
  const socket = open(target, () => begin())
  let text = ''
  let end: Exchange['end'] = 'closed'
  const abort = (): void => {
    if (!socket.destroyed) end = 'open'
    socket.destroy()
  }
  const limit = setTimeout(abort, seconds * 1000)
  socket.setEncoding('latin1')
  socket.on('data', (data) => {
    text += data
  })
  socket.on('end', () => socket.end())
  socket.on('error', () => {
    end = 'reset'
  })
  const ended = new Promise<Exchange>((resolve) => {
    socket.on('close', () => {
      clearTimeout(limit)
      begin()
      resolve({ text, end, bytesSent: socket.bytesWritten })
    })
  })
  const sent = ready.then(async () => {
    await send(socket, pieces, eachByteAlone)
    if (afterwards === 'half-close') socket.end()
    if (afterwards !== 'cut' || socket.destroyed) return
    end = 'cut'
    socket.destroy()
  })
  return { sent, ended, received: () => text, abort }
}

/** Sends raw bytes on a new connection and resolves with everything received until it ended. */
export const exchange = (
  target: Target | number,
  pieces: Iterable<Piece>,
  options?: ExchangeOptions,
): Promise<Exchange> => beginExchange(target, pieces, options).ended
