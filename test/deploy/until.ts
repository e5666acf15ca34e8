import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds. Long, because the machine can be busy. */
const timeLimit = 30_000

/** Waits until a condition is true. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + timeLimit
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`Timed out after ${timeLimit} ms: ${what}`)
    await sleep(20)
  }
}
