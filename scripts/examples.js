// Checks that the packages of folders that are no workspaces are installed in the pinned versions. With CI=true, installs
// missing ones; otherwise prints what is missing, and the tests that need it are skipped.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** What needs the packages of each folder, and the command that installs them. */
const folders = {
  examples: ['the examples', 'npm run examples:install'],
  'bench/peers': ['the tests with oidc-provider', 'npm ci --prefix bench/peers'],
}

const urlOf = (folder) => new URL(`../${folder}/`, import.meta.url)
const read = (folder, path) => JSON.parse(readFileSync(new URL(path, urlOf(folder)), 'utf8'))

function isAvailable(folder, [name, version]) {
  if (version.startsWith('file:')) return true
  try {
    return read(folder, `node_modules/${name}/package.json`).version === version
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
}

function missingPackages(folder) {
  const { dependencies, devDependencies } = read(folder, 'package.json')
  const pins = Object.entries({ ...dependencies, ...devDependencies })
  return pins.filter((pin) => !isAvailable(folder, pin)).map(([name, version]) => `${name} ${version}`)
}

for (const [folder, [what, install]] of Object.entries(folders)) {
  if (process.env.CI === 'true' && missingPackages(folder).length > 0) {
    spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: urlOf(folder), stdio: 'inherit' })
  }
  const missing = missingPackages(folder)
  if (missing.length === 0) continue
  const more = missing.length > 1 ? ` and ${missing.length - 1} more` : ''
  process.stdout.write(`Packages of ${what} are missing: ${missing[0]}${more}; install them with ${install}\n`)
  if (process.env.CI === 'true') process.exitCode = 1
}
