import { lstat } from 'node:fs/promises'
import { createConnection, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileErrorReason } from '../error-message.ts'
import type { ReloadOutcome } from './reload.ts'

/** What a server sends to each caller first. */
export interface ControlGreeting {
  readonly pid: number
  /** The file of the configuration; absent for the demo. */
  readonly configuration?: string | undefined
}

/** The only request. */
export const reloadRequest = 'reload\n'

/** Returns the path of the socket of a server with this pid file. */
export const socketOf = (pidFile: string): string => `${pidFile}.sock`

/** Milliseconds to wait for the greeting. */
const greetingTime = 10_000

/** Milliseconds to wait for the outcome: a database that does not respond can delay it by minutes. */
const outcomeTime = 300_000

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
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  return async (milliseconds: number): Promise<unknown> => {
    socket.setTimeout(milliseconds, () => socket.destroy(new Error('it did not respond in time')))
    const { value, done } = await lines.next()
    if (done === true) throw new Error('it has ended the connection')
    return JSON.parse(value)
  }
}

async function talk<T>(
  pidFile: string,
  use: (socket: Socket, next: ReturnType<typeof linesOf>) => Promise<T>,
): Promise<T> {
  const socket = createConnection(socketOf(pidFile))
  try {
    const failed = new Promise<never>((_, reject) => {
      socket.once('error', reject)
    })
    const connected = new Promise((resolve) => {
      socket.once('connect', resolve)
    })
    await Promise.race([connected, failed])
    return await Promise.race([use(socket, linesOf(socket)), failed])
  } catch (cause) {
    throw failure(cause, pidFile)
  } finally {
    socket.destroy()
  }
}

/**
 * Asks the server that uses a pid file who it is.
 *
 * @throws TypeError with a one-line message if none answers.
 */
export const askServer = (pidFile: string): Promise<ControlGreeting> =>
  talk(pidFile, async (_, next) => (await next(greetingTime)) as ControlGreeting)

/** Whether the server that uses a pid file belongs to the user of this process: another one could name any configuration. */
export async function isOwnServer(pidFile: string): Promise<boolean> {
  const socket = socketOf(pidFile)
  const own = process.getuid?.()
  const [{ uid }, directory] = await Promise.all([lstat(socket), lstat(dirname(socket))])
  // Who owns the directory can replace the socket at any time.
  return uid === own && (directory.uid === own || directory.uid === 0)
}

/**
 * Lets the server that uses a pid file read its configuration again.
 *
 * @throws TypeError with a one-line message if none answers.
 */
export const requestReload = (pidFile: string): Promise<ReloadOutcome> =>
  talk(pidFile, async (socket, next) => {
    await next(greetingTime)
    socket.write(reloadRequest)
    return (await next(outcomeTime)) as ReloadOutcome
  })
