import { chmod, lstat, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { fileErrorReason } from '../error-message.ts'
import { askServer, type ControlGreeting, isServerGone, reloadRequest } from './control-client.ts'
import { type ControlPlace, controlPlace } from './control-place.ts'
import type { ReloadOutcome } from './reload.ts'

/** How commands on this machine reach a running server. */
export interface Control {
  close(): Promise<void>
}

export interface ControlOptions {
  /** An absolute path. */
  readonly pidFile: string
  readonly configuration: string | undefined
  readonly reload: () => Promise<ReloadOutcome>
}

/** Milliseconds in which a caller has to send its request. */
const requestTime = 10_000

/** Only the owner of the process. */
const ownerOnly = 0o600

const maxCallers = 16

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`

/** Greets a caller, and does what it requests. Ends the connection of a caller that requests something else. */
function serveCaller(caller: Socket, greeting: ControlGreeting, reload: ControlOptions['reload']): void {
  let received = ''
  // The caller may have closed the connection. The outcome is in the log, too.
  caller.on('error', () => caller.destroy())
  caller.setTimeout(requestTime, () => caller.destroy())
  caller.setEncoding('utf8').on('data', (text: string) => {
    if (received.endsWith('\n')) return
    received += text
    if (received === reloadRequest) {
      caller.setTimeout(0)
      void reload().then((outcome) => caller.end(lineOf(outcome)))
    } else if (!reloadRequest.startsWith(received)) caller.destroy()
  })
  caller.write(lineOf(greeting))
}

/** @throws TypeError if a server answers at the socket, or something else has its name. Removes that of a killed server. */
async function removeStale(pidFile: string, socket: string): Promise<void> {
  const status = await lstat(socket).catch(() => undefined)
  if (status === undefined) return
  if (!status.isSocket()) throw new TypeError(`--pid-file: ${socket} exists and is not a socket; remove it`)
  const server = await askServer(pidFile).catch((cause: unknown) => {
    // A server that is busy, or does not respond, is alive all the same.
    if (!isServerGone(cause)) throw cause
  })
  if (server !== undefined)
    throw new TypeError(`--pid-file: process ${server.greeting.pid} uses ${pidFile}; stop it first`)
  await rm(socket, { force: true })
}

async function listen(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve())
  })
  await chmod(path, ownerOnly)
}

/** Writes the file under another name first: a reader never sees a part, and a link at its place is replaced. */
async function writePid(pidFile: string): Promise<void> {
  const temporary = `${pidFile}.${process.pid}`
  await rm(temporary, { force: true })
  await writeFile(temporary, `${process.pid}\n`, { flag: 'wx' })
  await rename(temporary, pidFile)
}

const unwritable = (pidFile: string, cause: unknown): TypeError =>
  new TypeError(
    `--pid-file: cannot write ${pidFile} and its socket (${fileErrorReason(cause)}); choose a short path in a directory of this user`,
    { cause },
  )

const placeOf = (pidFile: string): Promise<ControlPlace> =>
  controlPlace(pidFile).catch((cause: unknown) => {
    throw cause instanceof TypeError ? new TypeError(`--pid-file: ${cause.message}`) : unwritable(pidFile, cause)
  })

/**
 * Writes the id of this process to a file, and listens at a socket beside it. A process id can belong to another process
 * later; a socket belongs to the process that answers.
 *
 * @throws TypeError with a one-line message if another server uses the file, it cannot be written, or other users can write
 * to its directory.
 */
export async function openControl({ pidFile, configuration, reload }: ControlOptions): Promise<Control> {
  const { socket } = await placeOf(pidFile)
  const callers = new Set<Socket>()
  const server = createServer((caller) => {
    callers.add(caller)
    caller.once('close', () => callers.delete(caller))
    serveCaller(caller, { pid: process.pid, configuration }, reload)
  })
  server.maxConnections = maxCallers
  async function close(): Promise<void> {
    for (const caller of callers) caller.destroy()
    await new Promise((resolve) => server.close(resolve))
    const written = await readFile(pidFile, 'utf8').catch(() => '')
    if (written === `${process.pid}\n`) await rm(pidFile, { force: true })
  }
  await removeStale(pidFile, socket)
  try {
    await listen(server, socket)
    await writePid(pidFile)
  } catch (cause) {
    await close()
    throw unwritable(pidFile, cause)
  }
  return { close }
}
