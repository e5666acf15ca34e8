// `npm run runtimes`, and a check of `npm test`: installs the runtimes of the contract suite into runtimes/, unless they
// are there in the pinned versions.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { reportNotRun } from './not-run.js'

const folder = fileURLToPath(new URL('../runtimes/', import.meta.url))
const { dependencies } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'))

/** Version commands, so that a package whose install script did not run counts as missing. */
const binaries = {
  bun: ['node_modules/.bin/bun', '--version'],
  deno: ['node_modules/.bin/deno', '--version'],
  node22: ['node_modules/node22/bin/node', '--version'],
  node24: ['node_modules/node24/bin/node', '--version'],
  workerd: ['node_modules/.bin/workerd', '--version'],
}

/** Whether the runtime has the pinned version. workerd prints only its date, the others their version. */
function runs(name) {
  const [binary, flag] = binaries[name]
  const { status, stdout } = spawnSync(`${folder}${binary}`, [flag], { encoding: 'utf8' })
  const version = dependencies[name].split('@').at(-1)
  const shown = name === 'workerd' ? version.replace(/^1\.(\d{4})(\d\d)(\d\d)\..*$/u, '$1-$2-$3') : version
  return status === 0 && stdout.includes(shown)
}

const missing = () => Object.keys(binaries).filter((name) => !runs(name))

function install() {
  // bun and node install their binary with a script; without it the packages are empty.
  const { status, error } = spawnSync('npm', ['ci', '--ignore-scripts=false', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, npm_config_loglevel: 'error' },
  })
  if (error !== undefined || status !== 0) {
    process.stderr.write(`npm ci in runtimes/ failed: ${error?.message ?? `exit code ${status}`}\n`)
  }
}

if (missing().length > 0) install()
const still = missing()
if (still.length > 0) {
  reportNotRun(`the tests on ${still.join(', ')}`, 'npm run runtimes')
  // The command itself fails without CI=true, too.
  if (process.argv[2] === 'install') process.exitCode = 1
}
