import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'

/** The places of installed packages. */
const installations = ['node_modules', 'packages/server/node_modules', 'test/node_modules']

/** Hard links where possible: a copy of 300 MB only for another file system. The links between the packages stay relative. */
function copyInstallation(from, to) {
  try {
    execFileSync('cp', ['-al', from, to], { stdio: 'ignore' })
  } catch {
    rmSync(to, { recursive: true, force: true })
    execFileSync('cp', ['-a', from, to])
  }
}

/** Copies what git would commit, and the installed packages. */
function copyTree(root, target) {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  const removed = execFileSync('git', ['ls-files', '-z', '--deleted'], { cwd: root }).toString().split('\0')
  for (const path of listed.toString().split('\0')) {
    if (path === '' || removed.includes(path)) continue
    mkdirSync(dirname(join(target, path)), { recursive: true })
    cpSync(join(root, path), join(target, path))
  }
  for (const path of installations) {
    const isThere = readdirSync(dirname(join(root, path))).includes('node_modules')
    if (isThere) copyInstallation(join(root, path), join(target, path))
  }
}

/** The files of a build. The state of the compiler is not published. */
function builtFiles(root, folder) {
  const dist = join(root, folder, 'dist')
  return readdirSync(dist, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name !== '.tsbuildinfo')
    .map((entry) => relative(dist, join(entry.parentPath ?? entry.path, entry.name)))
    .sort()
}

/** Returns the files of two builds that differ, or are only in one of them. */
export function differences(root, otherRoot, folders) {
  return folders.flatMap((folder) => {
    const names = new Set([...builtFiles(root, folder), ...builtFiles(otherRoot, folder)])
    const contentsOf = (tree, name) => {
      try {
        return readFileSync(join(tree, folder, 'dist', name), 'base64')
      } catch {
        return undefined
      }
    }
    return [...names]
      .filter((name) => contentsOf(root, name) !== contentsOf(otherRoot, name))
      .map((name) => `${folder}/dist/${name}`)
  })
}

/**
 * Builds the packages again in another directory, at another time, in another time zone and language, and compares the result.
 *
 * @throws Error that names the files that differ
 */
export function checkReproduced(root, folders) {
  const target = mkdtempSync(join(tmpdir(), 'grantry-a-directory-with-another-name-'))
  try {
    copyTree(root, target)
    const env = { ...process.env, TZ: 'Pacific/Chatham', LANG: 'tr_TR.UTF-8', LC_ALL: '' }
    execFileSync('npm', ['run', 'build', '--silent'], { cwd: target, env, stdio: ['ignore', 'ignore', 'inherit'] })
    const files = differences(root, target, folders)
    if (files.length > 0) throw new Error(`a second build differs: ${files.slice(0, 10).join(', ')}`)
  } finally {
    rmSync(target, { recursive: true, force: true })
  }
}
