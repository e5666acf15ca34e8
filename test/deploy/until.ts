import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds; a machine that is busy is slow, not broken. */
const patience = 30_000

/** Waits until something is so. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patience
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`It has not come so far within ${patience} ms: ${what}`)
    await sleep(20)
  }
}
