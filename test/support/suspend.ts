import { readdirSync, readFileSync } from 'node:fs'

const cell = new Int32Array(new SharedArrayBuffer(4))

/** Whether a thread does nothing: stopped, or ended. */
const isIdle = (stat: string): boolean => /^[TtZX]$/u.test(stat.slice(stat.lastIndexOf(')') + 2)[0] ?? '')

function isSuspended(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) =>
      isIdle(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8')),
    )
  } catch {
    // The process, or the thread, has ended meanwhile.
    return false
  }
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch {
    // It has ended.
    return false
  }
}

/**
 * Suspends processes, and returns when all of their threads stand still. SIGSTOP alone takes effect later: until the
 * thread that receives it runs, the others of a busy machine still respond.
 */
export function suspend(pids: readonly number[]): void {
  for (const pid of pids) signal(pid, 'SIGSTOP')
  if (process.platform !== 'linux') return
  for (const pid of pids) while (signal(pid, 0) && !isSuspended(pid)) Atomics.wait(cell, 0, 0, 1)
}
