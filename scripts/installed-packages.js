// `node scripts/installed-packages.js FOLDER`: installs the packages of a folder that is no workspace, unless they are
// there in the pinned versions. With --check, installs nothing.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { reportNotRun } from './not-run.js'

/** The tests that need the packages of each folder, and the command that installs them. */
const folders = {
  examples: ['the examples', 'npm run examples:install'],
  'test/relying-parties': ['the tests with clients of other projects', 'npm ci --prefix test/relying-parties'],
  'test/bundlers': ['the tests with bundlers', 'npm ci --prefix test/bundlers'],
  'bench/peers': ['the tests with tokens of oidc-provider', 'npm ci --prefix bench/peers'],
}
const [, , name, flag] = process.argv
const [tests, command] = folders[name]
const folder = new URL(`../${name}/`, import.meta.url)
const read = (path) => JSON.parse(readFileSync(new URL(path, folder), 'utf8'))

function isAvailable([name, version]) {
  if (version.startsWith('file:')) return true
  try {
    return read(`node_modules/${name}/package.json`).version === version
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
}

function missingPackages() {
  const { dependencies, devDependencies } = read('package.json')
  const pins = Object.entries({ ...dependencies, ...devDependencies })
  return pins.filter((pin) => !isAvailable(pin)).map(([name, version]) => `${name} ${version}`)
}

if (flag !== '--check' && missingPackages().length > 0) {
  spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, stdio: 'inherit' })
}
const missing = missingPackages()
if (missing.length > 0) {
  const more = missing.length > 1 ? ` and ${missing.length - 1} more` : ''
  reportNotRun(`${tests}, without ${missing[0]}${more}`, command)
}
