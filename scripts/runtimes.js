// `npm run runtimes` installs the runtimes of the contract suite into runtimes/. `npm test` runs this as a check: with
// CI=true it installs missing ones and fails if that is impossible; otherwise the tests that need them are skipped.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

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

const wanted = process.argv[2] === 'install' || process.env.CI === 'true'
if (wanted && missing().length > 0) install()
const still = missing()
if (still.length > 0) {
  const sentence = `The contract suite needs runtimes that are not installed: ${still.join(', ')}; install them with npm run runtimes`
  if (wanted) {
    process.stderr.write(`${sentence}\n`)
    process.exitCode = 1
  } else {
    process.stdout.write(`${sentence}. Skipping their tests.\n`)
  }
}
