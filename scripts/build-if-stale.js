import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFolders } from './package-folders.js'

const root = fileURLToPath(new URL('..', import.meta.url))

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
  !path.includes('/dist/') &&
  !path.includes('/node_modules/') &&
  /\.ts$|\/texts\/[^/]+\.json$|package\.json$|\/page\/[^/]+\.(?:html|css|js)$/u.test(path)
const isStale = (folder) => newest(join(root, folder), isBuilt) <= newest(join(root, folder), isSource)

/** Builds if any package has no build or one that is older than its source. */
export function buildIfStale() {
  if (!packageFolders.some(isStale)) return
  if (process.stderr.isTTY) process.stderr.write('Building...\n')
  execFileSync(process.execPath, [join(root, 'node_modules/tsup/dist/cli-default.js')], { cwd: root, stdio: 'inherit' })
}
