// `npm start`: builds what is missing or older than its source, then runs the server's own command line.
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folders = ['packages/core', 'packages/storage-drivers', 'packages/adapters', 'packages/server', 'plugins']

function newest(folder, wanted) {
  let latest = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name)
    if (entry.isFile() && wanted(path)) latest = Math.max(latest, statSync(path).mtimeMs)
  }
  return latest
}

const isBuilt = (path) => path.includes('/dist/') && path.endsWith('.js')
const isSource = (path) =>
  !path.includes('/dist/') && !path.includes('/node_modules/') && /\.ts$|package\.json$/u.test(path)
const isStale = (folder) => newest(join(root, folder), isBuilt) <= newest(join(root, folder), isSource)

if (folders.some(isStale)) {
  process.stderr.write('Building...\n')
  execFileSync(process.execPath, [join(root, 'node_modules/tsup/dist/cli-default.js')], { cwd: root, stdio: 'inherit' })
}

// npm runs scripts at the root; paths in the arguments are meant from where the caller stands.
if (process.env.npm_lifecycle_event === 'start' && process.env.INIT_CWD !== undefined)
  process.chdir(process.env.INIT_CWD)

const { main } = await import('../packages/server/dist/cli.js')
const given = process.argv.slice(2)
const namesCommand = given[0] !== undefined && !given[0].startsWith('-')
process.exitCode = await main(namesCommand ? given : ['serve', ...given])
