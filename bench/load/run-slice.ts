import type { JsonWebKey } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { type Dialect, exchangeOf, type OperationName, presentation, requestOf } from '../operations.ts'
import { createCheck } from './check.ts'
import { createHistogram } from './histogram.ts'
import { startPolling } from './poll.ts'
import { createResponseReader } from './response-reader.ts'

/** One slice of load on one server. */
export interface Slice {
  readonly operation: OperationName
  /** The connections are spread over these ports. */
  readonly ports: readonly number[]
  readonly seconds: number
  /**
   * One per connection if the operation rotates them, one per request if it spends them. The slice ends early when all
   * are spent.
   */
  readonly tokens: readonly string[]
  readonly connections: number
  /** Verifies the JWTs. */
  readonly publicKey: JsonWebKey
  /** Whether the generator polls. Only if it has its core to itself. */
  readonly polls?: boolean
  readonly dialect?: Dialect
  /** Presents the tokens in turn where it would present the same one, so that requests cannot share what is read. */
  readonly differs?: boolean
}

export interface SliceFigures {
  readonly requests: number
  readonly failures: number
  readonly firstFailure: string | undefined
  /** From the first request to the last response. */
  readonly seconds: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Share of its core that the generator used, 0 to 1. Without the time in which it polled in vain. */
  readonly generatorLoad: number
  /** The tokens for the next slice, if the operation rotates them. */
  readonly tokens: readonly string[]
}

const refreshTokenOf = (body: string): string => {
  const start = body.indexOf('"refresh_token":"') + 17
  return body.slice(start, body.indexOf('"', start))
}

/** Returns the code in a redirect to the client. */
export const codeOf = (location: string | undefined): string | undefined =>
  location === undefined ? undefined : (/[?&]code=([^&]+)/u.exec(location)?.[1] ?? undefined)

/** Read buffer in bytes. Responses of these operations are shorter. */
const readSize = 16_384

function open(port: number, onText: (text: string) => void, onEnd: (reason: string) => void): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({
      port,
      host: '127.0.0.1',
      noDelay: true,
      // One buffer per connection, instead of a new one for each read.
      onread: {
        buffer: Buffer.allocUnsafe(readSize),
        callback(length, bytes) {
          onText((bytes as Buffer).toString('latin1', 0, length))
          return true
        },
      },
    })
    socket.on('error', (error) => onEnd(error.message))
    socket.on('close', () => onEnd('the server closed the connection'))
    socket.on('connect', () => resolve(socket))
  })
}

/**
 * Sends one request at a time on each connection for `seconds`, and checks every response. Resolves after the last
 * response.
 *
 * @throws Error when a connection fails, since the figures would be invalid.
 */
export async function runSlice(slice: Slice): Promise<SliceFigures> {
  const { operation, ports, seconds, connections, publicKey, polls = false, dialect = {}, differs = false } = slice
  const presented = presentation(operation)
  const tokens = [...slice.tokens]
  const check = createCheck(operation, publicKey, dialect)
  const histogram = createHistogram()
  const same = requestOf(operation, tokens[0] ?? '', dialect)
  let next = 0
  let [requests, failures, openConnections] = [0, 0, connections]
  let firstFailure: string | undefined
  let deadline = Number.POSITIVE_INFINITY
  const started: number[] = new Array(connections).fill(0)
  const sockets: Socket[] = []
  let finish: () => void = () => undefined
  let fail: (error: Error) => void = () => undefined
  const finished = new Promise<void>((resolve, reject) => {
    finish = resolve
    fail = reject
  })

  /** Returns the next request of a connection; `undefined` when all tokens are spent. */
  function nextRequest(index: number): string | undefined {
    if (presented === 'same' && !(differs && tokens.length > 1)) return same
    if (presented === 'rotated' || presented === 'exchanged') return requestOf(operation, tokens[index] ?? '', dialect)
    if (presented === 'spent' && next === tokens.length) return undefined
    const token = tokens[next % tokens.length]
    next += 1
    return requestOf(operation, token ?? '', dialect)
  }

  function send(index: number): void {
    const request = nextRequest(index)
    if (request === undefined) {
      end()
      return
    }
    started[index] = performance.now()
    sockets[index]?.write(request, 'latin1')
  }

  /** Counts a connection that has sent its last request. */
  function end(): void {
    openConnections -= 1
    if (openConnections === 0) finish()
  }

  for (let index = 0; index < connections; index += 1) {
    const read = createResponseReader()
    const onText = (text: string): void => {
      const response = read(text)
      if (response === undefined) return
      const code = presented === 'exchanged' ? codeOf(response.location) : undefined
      if (code !== undefined) {
        sockets[index]?.write(exchangeOf(code, dialect), 'latin1')
        return
      }
      const now = performance.now()
      histogram.add(now - (started[index] ?? 0))
      const problem = check(response)
      requests += 1
      if (problem !== undefined) {
        failures += 1
        firstFailure ??= problem
      } else if (presented === 'rotated') tokens[index] = refreshTokenOf(response.body)
      if (now < deadline) {
        send(index)
        return
      }
      end()
    }
    sockets.push(
      await open(
        ports[index % ports.length] ?? 0,
        (text) => {
          try {
            onText(text)
          } catch (error) {
            fail(error as Error)
          }
        },
        (reason) => fail(new Error(`Connection ${index}: ${reason}`)),
      ),
    )
  }
  const polling = polls ? startPolling(() => requests) : undefined
  const used = process.cpuUsage()
  const begin = performance.now()
  deadline = begin + seconds * 1000
  for (let index = 0; index < connections; index += 1) send(index)
  let idle: number | undefined
  try {
    await finished
  } finally {
    idle = polling?.stop()
    for (const socket of sockets) socket.destroy()
  }
  const elapsed = performance.now() - begin
  const { user, system } = process.cpuUsage(used)
  return {
    requests,
    failures,
    firstFailure,
    seconds: elapsed / 1000,
    p50: histogram.quantile(0.5),
    p99: histogram.quantile(0.99),
    generatorLoad: idle === undefined ? (user + system) / (elapsed * 1000) : 1 - idle / elapsed,
    tokens: presented === 'rotated' ? tokens : [],
  }
}
