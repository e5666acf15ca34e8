import { spawn } from 'node:child_process'
import { constants, getPriority, setPriority } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { reportedIn } from './not-run.js'
import { stopWithParent } from './stop-with-parent.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}` }
if (process.stdout.isTTY) env.FORCE_COLOR ??= '1'

const running = new Set()

/** Stops everything that the checks have started: each is a process group. */
function stop(signal) {
  for (const { pid } of running) {
    try {
      process.kill(-pid, 'SIGTERM')
    } catch (error) {
      if (error.code !== 'ESRCH') throw error
    }
  }
  process.exit(signal === 'SIGINT' ? 130 : 143)
}

/** The last line of a run of tests: the numbers of passed, failed and skipped tests. */
const summary = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gmu
const countsOf = (output) =>
  [...output.matchAll(summary)]
    .at(-1)
    ?.slice(1)
    .map((count) => Number(count ?? 0))

/** Runs a command to its end. Resolves to whether it succeeded, and its output. */
function run([program, ...parameters], inBackground, print) {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const take = (text) => {
      output += text
      print(text)
    }
    child.stdout.setEncoding('utf8').on('data', take)
    child.stderr.setEncoding('utf8').on('data', take)
    const end = (succeeded) => {
      running.delete(child)
      resolve({ succeeded, output })
    }
    child.once('error', (error) => {
      take(`${error.message}\n`)
      end(false)
    })
    child.once('close', (code) => end(code === 0))
    running.add(child)
    // No test waits for these. A user without rights may not raise a priority, so one that is lower already stays.
    const { PRIORITY_BELOW_NORMAL: low } = constants.priority
    if (inBackground && child.pid !== undefined && getPriority() < low) setPriority(child.pid, low)
  })
}

const results = new Map()

/** Resolves to whether the check succeeded, the counts of its tests, and which tests it reports as not run. */
async function check({ name, command, after, inBackground = false }) {
  const before = await Promise.all(after.map((required) => results.get(required)))
  const begun = performance.now()
  if (before.some(({ done }) => !done)) {
    process.stdout.write(`not run: ${name}\n`)
    return { succeeded: false, done: false }
  }
  const isTests = command[0] === 'vitest'
  const print = (text) => process.stdout.write(text.replace(summary, ''))
  const { succeeded, output } = await run(command, inBackground, isTests ? print : () => {})
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  const more = isTests || output === '' ? '' : `\n${output.trim()}\n`
  process.stdout.write(`${succeeded ? 'passed' : 'FAILED'}: ${name} (${seconds} s)${more.trimEnd()}\n`)
  // Failed tests do not keep the other tests from running.
  const counts = isTests ? countsOf(output) : undefined
  return { succeeded, done: succeeded || isTests, counts, notRun: isTests ? [] : reportedIn(output) }
}

/**
 * Runs checks beside each other, prints the complete output of those that fail, and ends the process. The last line is
 * `N passed, N failed`, in which a failed check counts like a failed test. The line before it names the tests that
 * were not run, if there are any.
 *
 * @param checks each starts when those named by `after` have succeeded, or for tests, ended
 * @param leftOut what this run leaves out, and the command that runs it
 */
export async function runChecks(checks, leftOut) {
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  stopWithParent()
  for (const each of checks) results.set(each.name, check(each))
  const ended = await Promise.all(results.values())
  const sum = (column) => ended.reduce((total, { counts }) => total + (counts?.[column] ?? 0), 0)
  const failures = ended.filter(({ succeeded, counts }) => !succeeded && !counts?.[1]).length
  const skipped = sum(2) === 0 ? '' : `, ${sum(2)} skipped`
  const notRun = ended.flatMap((check) => check.notRun ?? [])
  if (leftOut !== undefined) process.stdout.write(`\nNot run without CI=true: ${leftOut}`)
  if (notRun.length > 0) process.stdout.write(`\nNot run on this machine: ${notRun.join('; ')}`)
  process.stdout.write(`\n${sum(0)} passed, ${sum(1) + failures} failed${skipped}\n`)
  process.exit(failures === 0 && sum(1) === 0 ? 0 : 1)
}
