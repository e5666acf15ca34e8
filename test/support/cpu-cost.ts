/** Characters: as `bodyLimit`, and more than any header. */
export const longest = 65_536

function microsecondsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return user + system
}

/** Some linear work on the longest input: what the cost of a parser is compared with. */
function reference(): void {
  const text = 'a b\u0301'.repeat(longest / 4)
  const letters = text.normalize('NFKD').replaceAll(/\p{L}|\s/gu, (letter) => letter.toUpperCase())
  if (letters.split(' ').length !== longest / 4 + 1) throw new Error('The reference is wrong')
}

/** The reference costs a few milliseconds, a quadratic parser 50 times as much or more. */
const most = 20

/** How often a parser is tried: other work of the process, such as the collection of garbage, costs CPU time too. */
const tries = 6

let limit = 0

/** The reference is measured once, and again for each input that seems to cost more. */
function limitOf(attempt: number): number {
  if (limit === 0 || attempt > 0) {
    const start = process.cpuUsage()
    reference()
    limit = most * microsecondsSince(start)
  }
  return limit
}

/**
 * Whether a call costs CPU time like a linear pass over 64 KB. Compares with a reference in the same process, not with a
 * clock, so that neither a slow nor a busy machine matters.
 */
export async function isCheap(run: () => unknown): Promise<boolean> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const allowed = limitOf(attempt)
    const start = process.cpuUsage()
    try {
      await run()
    } catch {
      // Most of these inputs are refused.
    }
    if (microsecondsSince(start) <= allowed) return true
  }
  return false
}
