// `node scripts/release/executable.js FILE`: writes the server as one program, which needs no Node.js: Bun with `grantry.mjs` in it,
// for the system and processor of this machine. The same `grantry.mjs` and Bun give the same bytes. `npm run runtimes` installs Bun;
// the build must be current.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Bun would write the directory of this machine into the program. */
const paths = ['--define', '__dirname="/"', '--define', '__filename="/grantry.mjs"']

/**
 * Writes the executable.
 *
 * @param file the program. Its name is in its bytes
 * @param options.server the server in one file
 * @throws Error with the output of Bun if it fails
 */
export function writeExecutable(file, { server = `${root}packages/server/dist/grantry.mjs` } = {}) {
  const bun = `${root}runtimes/node_modules/.bin/bun`
  const target = resolve(file)
  // Bun writes a temporary file into the working directory.
  const cwd = mkdtempSync(`${tmpdir()}/grantry-executable-`)
  try {
    const flags = ['--compile', '--minify-whitespace', ...paths]
    execFileSync(bun, ['build', ...flags, '--outfile', target, server], { cwd, stdio: 'pipe' })
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , file] = process.argv
  if (file === undefined) throw new Error('give the file of the program')
  writeExecutable(file)
  process.stdout.write(`${basename(file)} written for ${process.platform} ${process.arch}\n`)
}
