// The last lines of `npm test`, which CI reads.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createMachine } from './machine.ts'

/** Runs checks whose commands print what is given, and returns the exit code and the last two lines. */
function endOf(outputs: readonly string[], CI = false, leftOut?: string) {
  const machine = createMachine()
  machine.add('vitest', 'printf "$1\\n"')
  const checks = outputs.map((output, index) => ({
    name: `check ${index}`,
    command: output.includes('passed') ? ['vitest', output] : ['node', 'scripts/report.js', output],
    after: [],
  }))
  const report = `import { reportNotRun } from './not-run.js'\nreportNotRun(process.argv[2], 'npm run runtimes')\n`
  writeFileSync(join(machine.directory, 'scripts/report.js'), report)
  const program = `import { runChecks } from './run-checks.js'\nawait runChecks(${JSON.stringify(checks)}, ${JSON.stringify(leftOut)})\n`
  writeFileSync(join(machine.directory, 'scripts/program.js'), program)
  const { code, out } = machine.run('program', [], { CI })
  return { code, lines: out.trimEnd().split('\n').slice(-2) }
}

test('the last line contains the sums', () => {
  const { code, lines } = endOf(['12 passed, 0 failed', '30 passed, 0 failed, 2 skipped'])
  expect([code, lines.at(-1)]).toEqual([0, '42 passed, 0 failed, 2 skipped'])
})

test('failed tests are a failure of the run', () => {
  const { code, lines } = endOf(['12 passed, 1 failed', '30 passed, 0 failed'])
  expect([code, lines.at(-1)]).toEqual([1, '42 passed, 1 failed'])
})

test('one line before it names what was not run, and how to get it', () => {
  expect(endOf(['12 passed, 0 failed', 'the tests on deno', 'the tests of Redis'])).toEqual({
    code: 0,
    lines: [
      expect.stringMatching(
        /^Not run on this machine: the tests (?:on deno|of Redis) \(install with: npm run runtimes\); the tests (?:on deno|of Redis) \(install with: npm run runtimes\)$/u,
      ),
      '12 passed, 0 failed',
    ],
  })
})

test('one line before it names what the run leaves out, and how to run it', () => {
  expect(endOf(['12 passed, 0 failed'], false, 'the proofs (run everything with: CI=true npm test)')).toEqual({
    code: 0,
    lines: ['Not run without CI=true: the proofs (run everything with: CI=true npm test)', '12 passed, 0 failed'],
  })
})

test('with CI=true, what cannot be run is a failure', () => {
  const { code, lines } = endOf(['12 passed, 0 failed', 'the tests on deno'], true)
  expect([code, lines.at(-1)]).toEqual([1, '12 passed, 1 failed'])
})

test('a user without rights can run them with the lowest priority, which no process of that user may raise', () => {
  const machine = createMachine()
  machine.add('vitest', 'printf "12 passed, 0 failed\\n"')
  const check = { name: 'lint', command: ['vitest'], after: [], inBackground: true }
  const program = `import { setPriority } from 'node:os'
import { runChecks } from './run-checks.js'
setPriority(19)
await runChecks(${JSON.stringify([check])})
`
  writeFileSync(join(machine.directory, 'scripts/program.js'), program)
  expect(machine.run('program', [], { asUser: true })).toMatchObject({ code: 0, err: '' })
})
