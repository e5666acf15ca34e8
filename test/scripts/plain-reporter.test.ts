// The numbers of a run of Vitest, which scripts/run-checks.js adds up.
import { expect, test, vi } from 'vitest'
import type { TestModule } from 'vitest/node'
import PlainReporter from '../../scripts/plain-reporter.ts'

type State = 'passed' | 'failed' | 'skipped' | 'pending'

/** Returns the line that is printed for one file with these tests: their states, and whether something skips them. */
function lineFor(moduleState: string, ...tests: readonly (readonly [State, mode?: 'skip'])[]): string {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const cases = tests.map(([state, mode = 'run']) => ({ options: { mode }, result: () => ({ state }) }))
  const file = { state: () => moduleState, children: { allTests: () => cases } }
  new PlainReporter().onTestRunEnd([file as unknown as TestModule], [])
  const [[text] = []] = write.mock.calls
  write.mockRestore()
  return String(text).trim()
}

test('counts tests by their result', () => {
  expect(lineFor('failed', ['passed'], ['failed'], ['skipped', 'skip'])).toBe('1 passed, 1 failed, 1 skipped')
})

// Such as a server that does not start, whose tests no code skips.
test('tests that did not run because a hook failed have failed', () => {
  expect(lineFor('failed', ['passed'], ['skipped'], ['skipped'])).toBe('1 passed, 2 failed')
})

test('a file that cannot be loaded has failed', () => {
  expect(lineFor('failed')).toBe('0 passed, 1 failed')
})
