import { readdirSync, readFileSync } from 'node:fs'

/** Linux reports CPU time in hundredths of a second (USER_HZ), regardless of the kernel timer. */
const ticksPerSecond = 100

/** Returns the fields of /proc/PID/stat after the name of the program; none for a process that has ended. */
function statOf(pid: number): readonly string[] {
  try {
    // The program name, in parentheses, may contain spaces.
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /u, '')
      .split(' ')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || (error as NodeJS.ErrnoException).code === 'ESRCH')
      return []
    throw error
  }
}

const seconds = (user: string | undefined, system: string | undefined): number =>
  (Number(user ?? 0) + Number(system ?? 0)) / ticksPerSecond

/** Returns the CPU seconds of all threads of a process. */
export function cpuOf(pid: number): number {
  const fields = statOf(pid)
  return seconds(fields[11], fields[12])
}

/** Returns the CPU seconds of its children that have ended. */
export function cpuOfEnded(pid: number): number {
  const fields = statOf(pid)
  return seconds(fields[13], fields[14])
}

/** Returns the ids of its children. */
export const childrenOf = (pid: number): readonly number[] =>
  readdirSync('/proc').flatMap((name) =>
    /^\d+$/u.test(name) && Number(statOf(Number(name))[1]) === pid ? [Number(name)] : [],
  )

/** Returns the ids of a process and of everything that it has started. */
export const treeOf = (pid: number): readonly number[] => [pid, ...childrenOf(pid).flatMap(treeOf)]

/** Returns the resident bytes of a process. */
export const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s*(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
