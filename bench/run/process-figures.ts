import { readFileSync } from 'node:fs'

/** Linux reports CPU time in hundredths of a second (USER_HZ), regardless of the kernel timer. */
const ticksPerSecond = 100

/** Returns the CPU seconds of all threads of a process. */
export function cpuOf(pid: number): number {
  // The program name, in parentheses, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /u, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Returns the resident bytes of a process. */
export const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s*(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
