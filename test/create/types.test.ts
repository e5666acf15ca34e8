// The generated programs of all combinations compile, with the packages that their package.json names.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { versionsFrom } from '../../packages/create-grantry/src/manifest.ts'
import { projectOf, refusalOf } from '../../packages/create-grantry/src/project.ts'
import { type Answers, answersTo, questionNames } from '../../packages/create-grantry/src/questions.ts'
import { emptyDirectory } from './created.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** All combinations of answers, also those that are refused. */
const all = questionNames.reduce<readonly Readonly<Record<string, string>>[]>(
  (answers, question) =>
    answers.flatMap((before) => answersTo(question).map((answer) => ({ ...before, [question]: answer }))),
  [{}],
) as unknown as readonly Answers[]

const possible = all.filter((answers) => refusalOf(answers) === undefined)

const projectFor = (answers: Answers) => projectOf(answers, 'tree', () => '*')

/** The packages that the projects name. */
function packagesOf(combinations: readonly Answers[]): ReadonlySet<string> {
  const manifests = combinations.map((answers) => JSON.parse(projectFor(answers).files['package.json'] ?? '{}'))
  return new Set(
    manifests.flatMap(({ dependencies, devDependencies }) => Object.keys({ ...dependencies, ...devDependencies })),
  )
}

/** The folder of a package of this repository, or of its examples, which are installed apart. */
function folderOf(name: string): string {
  const folder = ['node_modules', 'examples/node_modules'].map((each) => join(root, each, name)).find(existsSync)
  if (folder === undefined) throw new Error(`${name} is not installed: npm ci && npm run examples:install`)
  return folder
}

test('the programs of all combinations compile', () => {
  const directory = emptyDirectory()
  for (const answers of possible) {
    const folder = join(directory, questionNames.map((name) => answers[name]).join('-'))
    mkdirSync(folder)
    const { files } = projectFor(answers)
    for (const [name, text] of Object.entries(files)) if (name.endsWith('.ts')) writeFileSync(join(folder, name), text)
  }
  for (const name of packagesOf(possible)) {
    const linked = join(directory, 'node_modules', name)
    mkdirSync(dirname(linked), { recursive: true })
    symlinkSync(folderOf(name), linked)
  }
  const { compilerOptions } = JSON.parse(projectFor(possible[0] as Answers).files['tsconfig.json'] ?? '')
  const config = {
    compilerOptions: { ...compilerOptions, customConditions: ['@grantry/source'] },
    include: ['*/*.ts'],
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config))
  const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', directory], {
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
})

test('the versions of packages of others are those of the tests', () => {
  const versionOf = versionsFrom(undefined)
  const wrong = [...packagesOf(possible)]
    .filter((name) => name !== 'grantry' && !name.startsWith('@grantry/'))
    .filter(
      (name) =>
        versionOf(name) !== `^${JSON.parse(readFileSync(join(folderOf(name), 'package.json'), 'utf8')).version}`,
    )
  expect(wrong).toEqual([])
})
