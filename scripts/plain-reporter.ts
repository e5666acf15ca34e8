import type { Reporter, TestModule } from 'vitest/node'

/** Prints a plain summary line at the end of a run. */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0 }
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      // A file that failed to load has no tests but counts as a failure.
      if (module.state() === 'failed' && tests.every((test) => test.result().state !== 'failed')) count.failed += 1
      for (const test of tests) {
        const { state } = test.result()
        count[state === 'pending' ? 'skipped' : state] += 1
      }
    }
    const skipped = count.skipped === 0 ? '' : `, ${count.skipped} skipped`
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`)
  }
}
