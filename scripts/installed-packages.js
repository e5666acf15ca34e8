// `node scripts/installed-packages.js FOLDER`: checks that the packages of a folder that is no workspace are installed in
// the pinned versions. With CI=true, installs missing ones; otherwise prints what is missing, and the tests that need it
// are skipped.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** What needs the packages of each folder, and the command that installs them. */
const folders = {
  examples: ['the examples', 'npm run examples:install'],
  'test/relying-parties': ['the tests with other clients', 'npm ci --prefix test/relying-parties'],
  'bench/peers': ['the tests with oidc-provider', 'npm ci --prefix bench/peers'],
}
const [, , name] = process.argv
const [what, install] = folders[name]
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

if (process.env.CI === 'true' && missingPackages().length > 0) {
  spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder, stdio: 'inherit' })
}
const missing = missingPackages()
if (missing.length > 0) {
  const more = missing.length > 1 ? ` and ${missing.length - 1} more` : ''
  process.stdout.write(`Packages of ${what} are missing: ${missing[0]}${more}; install them with ${install}\n`)
  if (process.env.CI === 'true') process.exitCode = 1
}
