// `npm test`: runs all checks beside each other, prints the complete output of those that fail, and ends with the line
// `N passed, N failed`, in which a failed check counts like a failed test.
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stopWithParent } from './stop-with-parent.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}` }
if (process.stdout.isTTY) env.FORCE_COLOR ??= '1'

const node = (script) => ['node', `scripts/${script}.js`]
const npm = (script) => ['npm', 'run', '--silent', script]

/** Each starts when those before it have succeeded. */
const checks = [
  // Installed programs decide which tests run, and some tests use the build.
  { name: 'build', command: npm('build'), after: [] },
  { name: 'debian programs', command: node('debian-programs'), after: [] },
  { name: 'runtimes', command: node('runtimes'), after: [] },
  { name: 'examples', command: node('examples'), after: [] },
  { name: 'tests', command: ['vitest', 'run'], after: ['build', 'debian programs', 'runtimes', 'examples'] },
  { name: 'types', command: npm('typecheck'), after: [] },
  { name: 'lint', command: npm('lint'), after: [] },
  { name: 'packages', command: npm('test:packages'), after: ['build'] },
]

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
process.on('SIGINT', stop)
process.on('SIGTERM', stop)
stopWithParent()

/** The last line of the tests, which is printed at the end of everything. */
const summary = /^(\d+) passed, (\d+) failed(.*)$/gmu

/** Runs a command to its end. Resolves to whether it succeeded, and its output. */
function run([program, ...parameters], print) {
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
  })
}

const results = new Map()

/** Resolves to whether the check succeeded. */
async function check({ name, command, after }) {
  const before = await Promise.all(after.map((other) => results.get(other)))
  const begun = performance.now()
  if (before.some(({ succeeded }) => !succeeded)) {
    process.stdout.write(`not run: ${name}\n`)
    return { name, succeeded: false, output: '' }
  }
  const isTests = name === 'tests'
  const print = (text) => process.stdout.write(text.replace(summary, ''))
  const { succeeded, output } = await run(command, isTests ? print : () => {})
  const seconds = ((performance.now() - begun) / 1000).toFixed(1)
  const more = isTests || (succeeded && output === '') ? '' : `\n${output.trim()}\n`
  process.stdout.write(`${succeeded ? 'passed' : 'FAILED'}: ${name} (${seconds} s)${more.trimEnd()}\n`)
  return { name, succeeded, output }
}

for (const each of checks) results.set(each.name, check(each))
const ended = await Promise.all(results.values())

const tests = ended.find(({ name }) => name === 'tests')
const [, passed = 0, failed = 0, skipped = ''] = [...tests.output.matchAll(summary)].at(-1) ?? []
const failures = ended.filter(({ name, succeeded }) => !succeeded && (name !== 'tests' || Number(failed) === 0)).length
process.stdout.write(`\n${passed} passed, ${Number(failed) + failures} failed${skipped}\n`)
process.exit(ended.every(({ succeeded }) => succeeded) ? 0 : 1)
