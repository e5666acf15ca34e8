import { createConnection, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { isJsonObject } from '@grantry/core'
import { fileErrorReason } from '../error-message.ts'
import { type ControlPlace, controlPlace } from './control-place.ts'
import type { ReloadOutcome } from './reload.ts'

/** What a server sends to each caller first. */
export interface ControlGreeting {
  readonly pid: number
  /** The file of the configuration; absent for the demo. */
  readonly configuration?: string | undefined
}

/** The only request. */
export const reloadRequest = 'reload\n'

/** Milliseconds to wait for the greeting. */
const greetingTime = 10_000

/** Milliseconds to wait for the outcome: a database that does not respond can delay it by minutes. */
const outcomeTime = 300_000

/** Bytes that are read of a server: it can be one of another user. */
const maxReceived = 65_536

const isGone = (code: string): boolean => code === 'ENOENT' || code === 'ECONNREFUSED'

/** Whether the failure of a request means that no process listens at the socket. */
export const isServerGone = (failure: unknown): boolean =>
  failure instanceof Error && failure.cause !== undefined && isGone(fileErrorReason(failure.cause))

function failure(cause: unknown, pidFile: string): Error {
  const code = fileErrorReason(cause)
  const sentence = isGone(code)
    ? `no server uses ${pidFile}; start one with grantry serve --pid-file ${pidFile}`
    : `the server that uses ${pidFile} cannot be reached (${code})`
  return new TypeError(sentence, { cause })
}

/** Reads lines of JSON from a socket. */
function linesOf(socket: Socket) {
  let received = 0
  socket.on('data', (part) => {
    received += part.length
    if (received > maxReceived) socket.destroy(new Error(`it has sent more than ${maxReceived} bytes`))
  })
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  return async (milliseconds: number): Promise<unknown> => {
    socket.setTimeout(milliseconds, () => socket.destroy(new Error('it did not respond in time')))
    const { value, done } = await lines.next()
    if (done === true) throw new Error('it has ended the connection')
    return JSON.parse(value)
  }
}

function greetingIn(line: unknown): ControlGreeting {
  const { pid, configuration } = isJsonObject(line) ? line : {}
  if (typeof pid !== 'number') throw new Error('it is no server of Grantry')
  return { pid, configuration: typeof configuration === 'string' ? configuration : undefined }
}

function outcomeIn(line: unknown): Pick<ReloadOutcome, 'reloaded' | 'message'> {
  const { reloaded, message } = isJsonObject(line) ? line : {}
  return { reloaded: reloaded === true, message: String(message) }
}

async function talk<T>(
  socketPath: string,
  use: (socket: Socket, next: ReturnType<typeof linesOf>) => Promise<T>,
): Promise<T> {
  const socket = createConnection(socketPath)
  try {
    const failed = new Promise<never>((_, reject) => {
      socket.once('error', reject)
    })
    const connected = new Promise((resolve) => {
      socket.once('connect', resolve)
    })
    await Promise.race([connected, failed])
    return await Promise.race([use(socket, linesOf(socket)), failed])
  } finally {
    socket.destroy()
  }
}

/** A server that uses a pid file. */
export interface FoundServer {
  readonly place: ControlPlace
  readonly greeting: ControlGreeting
}

/**
 * Reads the greeting of the server that uses a pid file.
 *
 * @throws TypeError with a one-line message if none answers, or other users could answer in its place.
 */
export async function askServer(pidFile: string): Promise<FoundServer> {
  const place = await controlPlace(pidFile).catch((cause: unknown) => {
    throw cause instanceof TypeError ? cause : failure(cause, pidFile)
  })
  try {
    const greeting = await talk(place.socket, async (_, next) => greetingIn(await next(greetingTime)))
    return { place, greeting }
  } catch (cause) {
    throw failure(cause, pidFile)
  }
}

/**
 * Lets the server that uses a pid file read its configuration again.
 *
 * @throws TypeError with a one-line message if none answers.
 */
export async function requestReload(
  { socket: path }: ControlPlace,
  pidFile: string,
): Promise<Pick<ReloadOutcome, 'reloaded' | 'message'>> {
  try {
    return await talk(path, async (socket, next) => {
      await next(greetingTime)
      socket.write(reloadRequest)
      return outcomeIn(await next(outcomeTime))
    })
  } catch (cause) {
    throw failure(cause, pidFile)
  }
}
