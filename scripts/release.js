// `npm run release`: packs all packages, checks them, builds them again in another directory and compares, and does a dry run
// of publishing. With `-- --publish` it publishes them; with `-- --output DIRECTORY` it keeps the tarballs, and writes the
// bills of materials, licences, provenance and checksums beside them, and beside each `--with FILE`. The build must be current.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { packAndCheck } from './check-packages.js'
import { packageFolders } from './package-folders.js'
import { prepareOutput, writeArtefacts } from './release/artefacts.js'
import { checkReproduced } from './release/reproduced.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = (program, ...parameters) => execFileSync(program, parameters, { cwd: root, encoding: 'utf8' }).trim()

/** @throws Error if what would be published is not the tagged, described commit. */
function checkRelease(version) {
  if (run('git', 'status', '--porcelain') !== '') throw new Error('the work tree has uncommitted changes; commit them')
  const tags = run('git', 'tag', '--points-at', 'HEAD').split('\n')
  if (!tags.includes(`v${version}`)) throw new Error(`the commit has no tag v${version}; create it`)
}

/** Whether this version is in the registry. A release that stopped half-way is continued by the same command. */
function isPublished(name, version) {
  try {
    return run('npm', 'view', `${name}@${version}`, 'version') === version
  } catch (error) {
    if (error.stdout?.includes('E404') || error.stderr?.includes('E404')) return false
    throw error
  }
}

const options = {
  publish: { type: 'boolean', default: false },
  output: { type: 'string' },
  with: { type: 'string', multiple: true, default: [] },
}
const { publish, output, with: more } = parseArgs({ options }).values
const target = mkdtempSync(join(tmpdir(), 'grantry-release-'))
const artefacts = output === undefined ? join(target, 'output') : resolve(output)
try {
  // First: what follows takes minutes.
  prepareOutput(artefacts)
  const packed = await packAndCheck(target)
  const { version } = packed[0]
  if (!readFileSync(join(root, 'CHANGELOG.md'), 'utf8').includes(`\n## ${version}\n`)) {
    throw new Error(`CHANGELOG.md has no section ${version}; write it`)
  }
  if (publish) checkRelease(version)
  const { components, files } = writeArtefacts(root, artefacts, packed, more)
  process.stdout.write(
    `${files} files with checksums; a bill of materials of ${components} packages, all licences accepted\n`,
  )
  checkReproduced(root, packageFolders)
  process.stdout.write('a second build, in another directory, is the same bytes\n')
  for (const { name, tarball } of packed) {
    if (publish && isPublished(name, version)) {
      process.stdout.write(`${name} ${version} is already published\n`)
      continue
    }
    run('npm', 'publish', '--loglevel=error', ...(publish ? [] : ['--dry-run']), tarball)
    process.stdout.write(`${name} ${version} ${publish ? 'published' : 'would be published'}\n`)
  }
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
} finally {
  rmSync(target, { recursive: true, force: true })
}
