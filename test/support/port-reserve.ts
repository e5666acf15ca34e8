import { once } from 'node:events'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

export interface PortReserve {
  /**
   * Returns a port on which no process listens, and that no other process takes from this reserve before this one has
   * ended.
   *
   * @throws Error when all ports are taken
   */
  reserve(): Promise<number>
  /** Gives all ports back. Called at the end of the process. */
  release(): void
}

export interface PortReserveOptions {
  /** The existing directory of the lock files, the same for all processes that must not share a port. */
  readonly directory: string
  readonly first: number
  readonly last: number
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it belongs to another user.
    return codeOf(error) !== 'ESRCH'
  }
}

/** Whether the process that wrote this lock is gone. A lock without a pid was created a moment ago. */
function isAbandoned(lock: string): boolean {
  try {
    const pid = Number(readFileSync(lock, 'utf8'))
    return pid > 0 && !isAlive(pid)
  } catch {
    return false
  }
}

/** Creates a file with the pid of this process, unless it exists. */
function claim(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Replaces the lock of a process that is gone. Of several processes that try, one succeeds. */
function takeOver(lock: string): boolean {
  const successor = `${lock}.successor`
  if (!isAbandoned(lock) || !claim(successor)) return false
  try {
    // Again, because another process may have replaced it before this one had the right to.
    if (!isAbandoned(lock)) return false
    renameSync(successor, lock)
    return true
  } finally {
    rmSync(successor, { force: true })
  }
}

/** Whether a process can listen on this port of every address. */
async function canListen(port: number): Promise<boolean> {
  const server = createServer()
  const listening = once(server, 'listening').then(
    () => true,
    () => false,
  )
  server.listen(port)
  if (!(await listening)) return false
  await new Promise((resolve) => server.close(resolve))
  return true
}

/**
 * Ports for programs that need their port before they listen on it. A lock file for each port keeps it for this process;
 * the probe skips the ports of programs that know nothing of the locks.
 */
export function createPortReserve({ directory, first, last }: PortReserveOptions): PortReserve {
  const size = last - first + 1
  const held = new Set<string>()
  // Processes that start at different places rarely meet.
  let next = Math.floor(Math.random() * size)
  return {
    async reserve() {
      for (let tried = 0; tried < size; tried += 1) {
        const port = first + (next % size)
        next += 1
        const lock = join(directory, String(port))
        if (!claim(lock) && !takeOver(lock)) continue
        held.add(lock)
        if (await canListen(port)) return port
      }
      throw new Error(`All ports from ${first} to ${last} are taken (${directory})`)
    },
    release() {
      for (const lock of held) rmSync(lock, { force: true })
      held.clear()
    },
  }
}
