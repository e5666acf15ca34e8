// `npm run prove:create -- [--only <text>]`: writes the project of each combination of answers of `npm create grantry`,
// installs it from packed packages, runs its test, and starts it where it needs no other server. The build must be current. `--only`
// takes the combinations whose name contains a text, such as `app-next` or `sqlite`. Prints the failures, and exits with 1 for one.
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { versionsFrom } from '../../packages/create-grantry/src/manifest.ts'
import type { Project } from '../../packages/create-grantry/src/part.ts'
import { projectOf } from '../../packages/create-grantry/src/project.ts'
import { npm, setUp, startOnce } from '../../packages/create-grantry/src/prove.ts'
import { writeFiles } from '../../packages/create-grantry/src/write-files.ts'
import { nameOf, possible } from '../../test/create/combinations.ts'
import { searchPath } from '../../test/examples/example-folders.ts'
import { createTable, installAll, packAll } from './installed.ts'

const { only } = parseArgs({ options: { only: { type: 'string', default: '' } } }).values
const root = fileURLToPath(new URL('../..', import.meta.url))
process.env.PATH = searchPath
const directory = mkdtempSync(join(tmpdir(), 'grantry-create-'))
const combinations = possible.filter((answers) => nameOf(answers).includes(only))
// The packages are in a folder beside those of the projects.
const versionOf = versionsFrom('../packed')

async function prove(folder: string, { files, ignored, ...project }: Project): Promise<void> {
  writeFiles(folder, files, ignored)
  symlinkSync('../node_modules', join(folder, 'node_modules'))
  if (project.setUp !== undefined) setUp(folder, project.setUp, process.stderr)
  if (project.hasTest) npm(folder, 'test')
  if (project.start !== undefined) await startOnce(folder, project.start)
}

try {
  packAll(root, join(directory, 'packed'))
  const manifests = combinations.map(
    (answers) => projectOf(answers, 'project', versionsFrom('packed')).files['package.json'],
  )
  installAll(
    directory,
    manifests.map((text) => JSON.parse(text ?? '{}')),
  )
  const table = combinations.some(({ users }) => users === 'table') ? createTable(directory) : undefined
  const counts = { proved: 0, started: 0, failed: 0 }
  for (const answers of combinations) {
    const name = nameOf(answers)
    const project = projectOf(answers, name, versionOf, answers.users === 'table' ? table : undefined)
    try {
      await prove(join(directory, name), project)
      counts.proved += 1
      counts.started += project.start === undefined ? 0 : 1
    } catch (error) {
      counts.failed += 1
      process.stdout.write(`${name} failed: ${String(error)}\n`)
    }
    rmSync(join(directory, name), { recursive: true, force: true })
  }
  process.stdout.write(
    `${counts.proved} of ${combinations.length} proved, ${counts.started} started, ${counts.failed} failed\n`,
  )
  process.exitCode = counts.failed === 0 && counts.proved > 0 ? 0 : 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
