import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pause } from './pause.ts'
import { suspend } from './suspend.ts'

/** Seconds for a new server to respond; on a machine with one busy core it is slow, not broken. */
const timeLimit = 60

/** One redis-server process with its own directory. It ends with the process that started it, however that ends. */
export interface RedisProcess {
  readonly pid: number
  /** Suspends it; connections stay open without a reply. */
  suspend(): void
  resume(): void
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
}

export const newDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'grantry-redis-'))

export const removeDirectory = (directory: string): Promise<void> => rm(directory, { recursive: true, force: true })

/** The server's reply to a PING; `undefined` when there is no reply, or not yet. */
function ping(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    const finish = (response?: string): void => {
      socket.destroy()
      resolve(response)
    }
    socket.setTimeout(1000, finish)
    socket.on('error', () => finish())
    socket.on('close', () => finish())
    socket.on('connect', () => socket.write('PING\r\n'))
    socket.on('data', (data) => finish(String(data)))
  })
}

/**
 * Ends the server and removes its directory when this process is gone: the pipe closes in every case, including
 * SIGKILL, and a paused server gets SIGKILL too. In its own session, so that Ctrl-C does not end it first.
 */
function leash(pid: number, directory: string): ChildProcess {
  const script = 'read -r line; kill -9 "$1"; rm -rf -- "$2"'
  const child = spawn('sh', ['-c', script, 'leash', String(pid), directory], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.unref()
  return child
}

/**
 * Starts redis-server and waits until it replies, even if only that a password is required.
 *
 * @throws Error with the end of the server's log when it ends instead.
 */
export async function startProcess(
  port: number,
  directory: string,
  parameters: readonly string[],
): Promise<RedisProcess> {
  const child = spawn('redis-server', parameters, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  const keep = (chunk: Buffer): void => {
    log = (log + chunk).slice(-2000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', (error) => {
      log += error.message
      resolve()
    })
  })
  let gone = false
  void ended.then(() => {
    gone = true
  })
  const { pid } = child
  if (pid === undefined) {
    await ended
    throw new Error(`redis-server could not be started: ${log}`)
  }
  const guard = leash(pid, directory)
  // A later process may get the same id.
  child.once('exit', () => guard.kill('SIGKILL'))

  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  const deadline = Date.now() + timeLimit * 1000
  for (;;) {
    const response = gone ? undefined : await ping(port)
    if (gone) throw new Error(`redis-server on port ${port} ended during its start:\n${log}`)
    if (response?.startsWith('+PONG') || response?.startsWith('-NOAUTH')) break
    if (Date.now() > deadline) {
      await kill()
      throw new Error(`redis-server on port ${port} does not reply to a PING within ${timeLimit} s:\n${log}`)
    }
    await pause(20)
  }
  return { pid, suspend: () => suspend([pid]), resume: () => void child.kill('SIGCONT'), kill }
}
