import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** Whether a test did not run although nothing skips it: a hook before it has failed. */
const isLost = (test: TestCase): boolean => {
  const { mode } = test.options
  return test.result().state === 'skipped' && mode !== 'skip' && mode !== 'todo'
}

/** Prints a plain summary line at the end of a run. */
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
    const skipped = count.skipped === 0 ? '' : `, ${count.skipped} skipped`
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`)
  }
}
