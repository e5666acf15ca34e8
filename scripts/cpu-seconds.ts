// Runs before each test file: measures the CPU seconds of its process and of all processes that it has started. What a
// browser leaves to the system when it is closed, such as its pages, is not counted.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'

/** Linux counts CPU time in hundredths of a second for programs. */
const ticks = 100

/**
 * Returns the CPU seconds of a process, of its children that have ended, and of all that it has started and that still run;
 * 0 for one that has ended meanwhile.
 */
function secondsOf(id: string): number {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8')
    // After the name, which can contain anything: the fields from the third one, of which 14 to 17 are times.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const seconds = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / ticks
    const children = readdirSync(`/proc/${id}/task`).flatMap((thread) =>
      readFileSync(`/proc/${id}/task/${thread}/children`, 'utf8').trim().split(' ').filter(Boolean),
    )
    return seconds + children.reduce((sum, child) => sum + secondsOf(child), 0)
  } catch {
    return 0
  }
}

const directory = process.env.GRANTRY_RUN_DIRECTORY
if (process.platform === 'linux' && directory !== undefined) {
  const before = secondsOf(String(process.pid))
  const { testPath = '' } = expect.getState()
  // The hook that is defined first runs last.
  afterAll(() => {
    const seconds = Math.max(0, secondsOf(String(process.pid)) - before)
    appendFileSync(join(directory, 'cpu-seconds.txt'), `${seconds.toFixed(2)} ${testPath}\n`)
  })
}
