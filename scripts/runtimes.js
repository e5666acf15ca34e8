// The runtimes of the contract suite: are they in runtimes/? `npm run runtimes` installs them. `npm test` asks first: in a build (CI=true) they are
// installed where they are missing, and a build without them fails; elsewhere the tests that need them are left out.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../runtimes/', import.meta.url))
const { dependencies } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'))

/** What is asked, so that a package whose install script did not run counts as missing. */
const binaries = {
  bun: ['node_modules/.bin/bun', '--version'],
  deno: ['node_modules/.bin/deno', '--version'],
  node22: ['node_modules/node22/bin/node', '--version'],
  node24: ['node_modules/node24/bin/node', '--version'],
  workerd: ['node_modules/.bin/workerd', '--version'],
}

/** workerd says its date only, the others their version. */
function runs(name) {
  const [binary, flag] = binaries[name]
  const { status, stdout } = spawnSync(`${folder}${binary}`, [flag], { encoding: 'utf8' })
  const version = dependencies[name].split('@').at(-1)
  const shown = name === 'workerd' ? version.replace(/^1\.(\d{4})(\d\d)(\d\d)\..*$/u, '$1-$2-$3') : version
  return status === 0 && stdout.includes(shown)
}

const missing = () => Object.keys(binaries).filter((name) => !runs(name))

function install() {
  // bun and node put their binary in place with a script: without it they are empty packages.
  const { status, error } = spawnSync('npm', ['ci', '--ignore-scripts=false', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, npm_config_loglevel: 'error' },
  })
  if (error !== undefined || status !== 0) {
    process.stderr.write(`npm ci in runtimes/ has failed: ${error?.message ?? `exit code ${status}`}\n`)
  }
}

const wanted = process.argv[2] === 'install' || process.env.CI === 'true'
if (wanted && missing().length > 0) install()
const still = missing()
if (still.length > 0) {
  const sentence = `Not installed, and the contract suite needs them: ${still.join(', ')}; get them with npm run runtimes`
  if (wanted) {
    process.stderr.write(`${sentence}\n`)
    process.exitCode = 1
  } else {
    process.stdout.write(`${sentence}. Their tests are left out.\n`)
  }
}
