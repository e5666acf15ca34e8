// `npm run prove:fresh-machine`: clones the current commit into an empty directory and types the second command of the
// README, `npm ci && npm test`, with an empty cache of npm: with and without CI=true, as this user and, if this is root,
// as a user without rights. Takes five to fifteen minutes for each; `-- user --ci` runs only that one, `-- user --no-ci`
// only the other.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = execFileSync('git', ['rev-parse', '--show-toplevel'], {
  cwd: fileURLToPath(new URL('.', import.meta.url)),
  encoding: 'utf8',
}).trim()

const otherUser = 65_534
const isRoot = process.getuid?.() === 0

interface Machine {
  readonly user: 'root' | 'user'
  readonly CI: boolean
}

/** Only what a login shell has: nothing of npm, which runs this program, and none of its settings. */
function environmentOf(home: string, { CI }: Machine): NodeJS.ProcessEnv {
  const { PATH, LANG } = process.env
  const path = (PATH ?? '').split(':').filter((folder) => !folder.includes('node_modules'))
  return { PATH: path.join(':'), LANG, HOME: home, npm_config_cache: join(home, 'cache'), ...(CI && { CI: 'true' }) }
}

/** Returns what is wrong with the run; nothing if it is as it should be. */
function problemsOf({ CI }: Machine, code: number | null, output: string): readonly string[] {
  const [before = '', last = ''] = output.trimEnd().split('\n').slice(-2)
  const [, failed, skipped] = /^[1-9]\d* passed, (\d+) failed(?:, (\d+) skipped)?$/u.exec(last) ?? []
  if (failed === undefined) return [`the last line is: ${last}`]
  const isComplete = !before.startsWith('Not run on this machine: ')
  // With CI=true, a missing part is a failure. Without it, the tests need nothing that can be missing.
  const mayFail = CI && !isComplete
  if (!CI && !before.startsWith('Not run without CI=true: ')) return [`the line before the last is: ${before}`]
  return [
    ...(mayFail === (code !== 0) ? [] : [`it ended with ${code} and: ${last}`]),
    ...((isComplete || !CI) && skipped !== undefined ? [`everything is installed, but: ${last}`] : []),
    ...(output.includes('No test found in suite') ? ['No test found in suite'] : []),
  ]
}

async function prove(machine: Machine): Promise<boolean> {
  const title = `${machine.user}, ${machine.CI ? 'with' : 'without'} CI=true`
  const directory = mkdtempSync(join(tmpdir(), 'grantry-fresh-'))
  chmodSync(directory, 0o755)
  const [clone, home] = [join(directory, 'grantry'), join(directory, 'home')]
  mkdirSync(home)
  execFileSync('git', ['clone', '--quiet', root, clone])
  const asOther = isRoot && machine.user === 'user'
  if (asOther) execFileSync('chown', ['-R', `${otherUser}:${otherUser}`, clone, home])
  const child = spawn('sh', ['-c', 'npm ci && npm test'], {
    cwd: clone,
    env: environmentOf(home, machine),
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(asOther && { uid: otherUser, gid: otherUser }),
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      process.stdout.write(text)
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  const problems = problemsOf(machine, code, output)
  process.stdout.write(`\n${title}: ${problems.length === 0 ? 'as it should be' : problems.join('; ')}\n`)
  rmSync(directory, { recursive: true, force: true })
  return problems.length === 0
}

const wanted = process.argv.slice(2)
const users = isRoot ? (['root', 'user'] as const) : (['user'] as const)
const machines = users
  .flatMap((user) => [false, true].map((CI) => ({ user, CI })))
  .filter(({ user }) => !wanted.some((word) => word === 'root' || word === 'user') || wanted.includes(user))
  .filter(({ CI }) => !wanted.includes(CI ? '--no-ci' : '--ci'))
let proved = true
for (const machine of machines) proved = (await prove(machine)) && proved
process.exit(proved ? 0 : 1)
