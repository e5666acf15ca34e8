// `npm run structure`: prints what the structure of the source tree is measured by, and how much of it requests pass.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { parseArgs } from 'node:util'
import type { Source } from '../../test/architecture/source-files.ts'
import { packageFolders } from '../package-folders.js'
import { clientLookUps } from './client-look-ups.ts'
import { type FunctionLength, functionLengths } from './function-lengths.ts'
import { functionsOf, movesOf } from './moves.ts'
import { smallFiles } from './small-files.ts'
import { requestPaths } from './trace.ts'

const root = new URL('../../', import.meta.url)

const filesIn = (...folders: readonly string[]): readonly Source[] =>
  execFileSync('git', ['ls-files', ...folders], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((path) => /\.[jt]s$/u.test(path))
    .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }))

const files = filesIn('packages', 'plugins')

const linesIn = (text: string): number => text.split('\n').length - 1
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
const print = (text = ''): void => void process.stdout.write(`${text}\n`)

const small = smallFiles(files, filesIn('test', 'proofs', 'bench'))

print('| package | files | small files with one user | lines | longest function |')
print('| --- | ---: | ---: | ---: | --- |')
const all: FunctionLength[] = []
for (const folder of packageFolders) {
  const name = posix.basename(folder)
  // The plugins have no folder `src`.
  const ofUnit = files.filter(({ path }) => path.startsWith(name === 'plugins' ? `${folder}/` : `${folder}/src/`))
  if (ofUnit.length === 0) throw new Error(`${folder} has no source files`)
  const functions = ofUnit.flatMap(functionLengths).sort((first, second) => second.lines - first.lines)
  all.push(...functions)
  const lines = sum(ofUnit.map(({ text }) => linesIn(text)))
  const merged = ofUnit.filter(({ path }) => small.includes(path)).length
  const [longest] = functions
  print(
    `| ${name} | ${ofUnit.length} | ${merged} | ${lines} | ${longest === undefined ? '' : `${longest.lines}: \`${longest.name}\``} |`,
  )
}

// `test/architecture/small-files.test.ts` has the reason of each.
print(`\nSmall files with one user: ${small.length}`)

const budget = 80
const over = all.filter(({ lines }) => lines > budget).sort((first, second) => second.lines - first.lines)
print(`\nFunctions of more than ${budget} lines: ${over.length}`)
for (const { name, path, lines } of over) print(`  ${lines} ${name} (${path})`)

const lookUps = await clientLookUps()
print(`\nLook-ups of the client in one sign-in: ${sum(lookUps.map(({ count }) => count))}`)
for (const { request, count } of lookUps) print(`  ${count} ${request}`)

const paths = await requestPaths()
print('\n| request | files | moves | lines | calls of the storage |')
print('| --- | ---: | ---: | ---: | ---: |')
for (const path of paths) {
  const moves = sum(movesOf(path).map(({ count }) => count))
  print(`| ${path.request} | ${path.lines.size} | ${moves} | ${sum([...path.lines.values()])} | ${path.storageCalls} |`)
}

// `npm run structure -- --files code-redemption`: what the request opens, in order, and where it goes back and forth.
const { values: flags } = parseArgs({ options: { files: { type: 'string' } } })
if (flags.files !== undefined) {
  const path = paths.find(({ request }) => request.replaceAll(/[^a-z0-9]+/gu, '-') === flags.files)
  if (path === undefined) throw new Error(`${flags.files} is no request of the table, such as code-redemption`)
  print()
  for (const [file, names] of functionsOf(path)) {
    const called = [...names].map(([name, count]) => (count === 1 ? name : `${name} (${count})`))
    print(`${file}, ${path.lines.get(file)} lines: ${called.join(', ')}`)
  }
  print()
  for (const { from, to, count } of movesOf(path)) print(`${count} ${from} → ${to}`)
}
