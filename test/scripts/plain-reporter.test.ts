// The numbers of a run of Vitest, which scripts/run-checks.js adds up.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { TestModule } from 'vitest/node'
import PlainReporter from '../../scripts/plain-reporter.ts'
import { sharedDirectory } from '../support/directory.ts'

const directory = sharedDirectory('reporter')
beforeEach(() => {
  // Otherwise the reporter prints the seconds of the run that this test is part of.
  vi.stubEnv('GRANTRY_RUN_DIRECTORY', join(directory, 'empty'))
  vi.stubEnv('GRANTRY_BUDGET', '')
})
afterEach(() => {
  vi.unstubAllEnvs()
})

type State = 'passed' | 'failed' | 'skipped' | 'pending'

/** Returns the line that is printed for one file with these tests: their states, and whether something skips them. */
function lineFor(moduleState: string, ...tests: readonly (readonly [State, mode?: 'skip'])[]): string {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const cases = tests.map(([state, mode = 'run']) => ({ options: { mode }, result: () => ({ state }) }))
  const file = { state: () => moduleState, children: { allTests: () => cases } }
  new PlainReporter().onTestRunEnd([file as unknown as TestModule], [])
  const text = write.mock.calls.map(([written]) => written).join('')
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

test('prints the CPU seconds of the folders that take more than one, before the numbers', () => {
  const run = join(directory, 'run')
  mkdirSync(run)
  const files = { 'grants/one': '1.25', 'grants/two': '0.50', 'keys/one': '0.20' }
  const lines = Object.entries(files).map(([file, seconds]) => `${seconds} /a/test/${file}.test.ts\n`)
  writeFileSync(join(run, 'cpu-seconds.txt'), lines.join(''))
  vi.stubEnv('GRANTRY_RUN_DIRECTORY', run)
  const printed = lineFor('passed', ['passed']).split('\n')
  expect(printed[0]).toMatch(/^CPU seconds \(budget, no limit\), 2 in all: test\/grants 2 \((?:\d+|none)\)$/u)
  expect(printed.at(-1)).toBe('1 passed, 0 failed')
})
