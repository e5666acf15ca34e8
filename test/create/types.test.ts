// The generated programs of all combinations compile, with the packages that their package.json names.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { versionsFrom } from '../../packages/create-grantry/src/manifest.ts'
import { projectOf } from '../../packages/create-grantry/src/project.ts'
import type { Answers } from '../../packages/create-grantry/src/questions.ts'
import { writeFiles } from '../../packages/create-grantry/src/write-files.ts'
import { nameOf, possible, programs } from './combinations.ts'
import { emptyDirectory, folderOf, linkPackages, root } from './created.ts'

const projectFor = (answers: Answers) => projectOf(answers, 'tree', () => '*')

/** The packages that the projects name. */
function packagesOf(combinations: readonly Answers[]): ReadonlySet<string> {
  const manifests = combinations.map((answers) => JSON.parse(projectFor(answers).files['package.json'] ?? '{}'))
  return new Set(
    manifests
      .flatMap(({ dependencies, devDependencies }) => Object.keys({ ...dependencies, ...devDependencies }))
      // Only started from the command line.
      .filter((name) => name !== 'wrangler'),
  )
}

test('the programs of all combinations compile', () => {
  const directory = emptyDirectory()
  for (const answers of possible) {
    const folder = join(directory, nameOf(answers))
    const { files, ignored } = projectFor(answers)
    writeFiles(folder, files, ignored)
  }
  linkPackages(directory, packagesOf(possible))
  const { compilerOptions } = JSON.parse(projectFor(possible[0] as Answers).files['tsconfig.json'] ?? '')
  const config = {
    compilerOptions: { ...compilerOptions, jsx: 'react-jsx', customConditions: ['@grantry/source'] },
    include: ['*/*.ts', '*/src/*.ts', '*/app/**/*.ts', '*/app/**/.well-known/**/*.ts', '*/app/**/*.tsx'],
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config))
  const { stdout } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', directory], {
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
})

test('the versions of packages of others are those of the tests', () => {
  const versionOf = versionsFrom(undefined)
  const wrong = [...packagesOf(programs)]
    .filter((name) => name !== 'grantry' && name !== '@types/react' && !name.startsWith('@grantry/'))
    .filter(
      (name) =>
        versionOf(name) !== `^${JSON.parse(readFileSync(join(folderOf(name), 'package.json'), 'utf8')).version}`,
    )
  expect(wrong).toEqual([])
})
