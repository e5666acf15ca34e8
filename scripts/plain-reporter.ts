import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

type Seconds = Readonly<Record<string, number>>

const budgetFile = new URL('../test/budget.json', import.meta.url)

/** The CPU seconds of each folder, as `cpu-seconds.ts` has measured them for each file. */
function usedSeconds(): Seconds {
  const file = join(process.env.GRANTRY_RUN_DIRECTORY ?? '', 'cpu-seconds.txt')
  const used: Record<string, number> = {}
  if (!existsSync(file)) return used
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, seconds = '', folder] = /^(\S+) .*\/((?:test|proofs)\/[^/]+)\//u.exec(line) ?? []
    if (folder !== undefined) used[folder] = (used[folder] ?? 0) + Number(seconds)
  }
  return used
}

/**
 * Prints the CPU seconds of each folder beside those of the budget, for those that take more than a second. Something to
 * look at, never a failure: machines differ. `GRANTRY_BUDGET=write` makes them the budget.
 */
function reportSeconds(): void {
  const used = usedSeconds()
  const rounded = Object.entries(used).map(([folder, seconds]) => [folder, Math.ceil(seconds)] as const)
  const budget: Seconds = JSON.parse(readFileSync(budgetFile, 'utf8'))
  if (process.env.GRANTRY_BUDGET === 'write') {
    const sorted = Object.entries({ ...budget, ...Object.fromEntries(rounded) }).sort(([first], [second]) =>
      first < second ? -1 : 1,
    )
    writeFileSync(budgetFile, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
  }
  const large = rounded.filter(([, seconds]) => seconds > 1).sort(([, first], [, second]) => second - first)
  const sum = Math.ceil(Object.values(used).reduce((all, seconds) => all + seconds, 0))
  if (sum === 0) return
  const lines = large.map(([folder, seconds]) => `${folder} ${seconds} (${budget[folder] ?? 'none'})`)
  process.stdout.write(`\nCPU seconds (budget, no limit), ${sum} in all: ${lines.join(', ')}\n`)
}

/** Whether a test did not run although nothing skips it: a hook before it has failed. */
const isLost = (test: TestCase): boolean => {
  const { mode } = test.options
  return test.result().state === 'skipped' && mode !== 'skip' && mode !== 'todo'
}

/** Prints the CPU seconds of a run, and a plain summary line at its end. */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0 }
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      const counted = tests.map((test) => {
        const { state } = test.result()
        return isLost(test) ? 'failed' : state === 'pending' ? 'skipped' : state
      })
      for (const state of counted) count[state] += 1
      // A file that failed to load has no tests but counts as a failure.
      if (module.state() === 'failed' && !counted.includes('failed')) count.failed += 1
    }
    reportSeconds()
    const skipped = count.skipped === 0 ? '' : `, ${count.skipped} skipped`
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`)
  }
}
