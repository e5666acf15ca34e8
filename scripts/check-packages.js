// `npm run test:packages`: each package as a user gets it (the packed tarball) resolves, is typed, and has nothing in it that should not be.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name) => join(root, 'node_modules/.bin', name)
const folders = ['packages/core', 'packages/storage-drivers', 'packages/adapters', 'packages/server', 'plugins']
const allowed = /^(?:dist\/|bin\/|package\.json$|README\.md$|LICENSE$)/u
const unwanted = /\.tsbuildinfo$|\.test\./u

async function check(folder, target) {
  const cwd = join(root, folder)
  const { stdout } = await run('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', target], { cwd })
  const [packed] = Object.values(JSON.parse(stdout))
  const stray = packed.files.map((file) => file.path).filter((path) => !allowed.test(path) || unwanted.test(path))
  if (stray.length > 0) throw new Error(`${folder} packs ${stray.join(', ')}`)
  await run(bin('publint'), ['--strict', '--pack', 'npm'], { cwd })
  await run(bin('attw'), [join(target, packed.filename), '--profile', 'esm-only', '--no-emoji'], { cwd })
  return `${packed.name} ${packed.version}: ${packed.files.length} files, ${packed.size} bytes packed`
}

const target = mkdtempSync(join(tmpdir(), 'grantry-packages-'))
try {
  for (const folder of folders) {
    try {
      process.stdout.write(`${await check(folder, target)}\n`)
    } catch (error) {
      process.stderr.write(
        `${folder} is not fit to be published\n${error.stdout ?? ''}${error.stderr ?? ''}${error.message}\n`,
      )
      process.exitCode = 1
    }
  }
} finally {
  rmSync(target, { recursive: true, force: true })
}
