// `npm run structure`: prints what the structure of the source tree is measured by. `docs/decisions` and CONTRIBUTING.md
// refer to these figures.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { clientLookUps } from './client-look-ups.ts'
import { type FunctionLength, functionLengths } from './function-lengths.ts'

const root = new URL('../../', import.meta.url)

const packages: Readonly<Record<string, RegExp>> = {
  core: /^packages\/core\/src\//u,
  plugins: /^plugins\//u,
  server: /^packages\/server\/src\//u,
  'storage-drivers': /^packages\/storage-drivers\/src\//u,
  adapters: /^packages\/adapters\/src\//u,
  administration: /^packages\/administration\/src\//u,
  pages: /^packages\/pages\/src\//u,
  'resource-server': /^packages\/resource-server\/src\//u,
  mail: /^packages\/mail\/src\//u,
  testing: /^packages\/testing\/src\//u,
  console: /^packages\/console\/src\//u,
}

const tracked = execFileSync('git', ['ls-files', 'packages', 'plugins'], { cwd: root, encoding: 'utf8' })
const files = tracked
  .split('\n')
  .filter((path) => /\.[jt]s$/u.test(path))
  .map((path) => ({ path, text: readFileSync(new URL(path, root), 'utf8') }))

const linesIn = (text: string): number => text.split('\n').length - 1
const print = (text = ''): void => void process.stdout.write(`${text}\n`)

print('| package | files | lines | longest function |')
print('| --- | ---: | ---: | --- |')
const all: FunctionLength[] = []
for (const [name, form] of Object.entries(packages)) {
  const own = files.filter(({ path }) => form.test(path))
  if (own.length === 0) continue
  const functions = own.flatMap(functionLengths).sort((one, other) => other.lines - one.lines)
  all.push(...functions)
  const lines = own.reduce((sum, { text }) => sum + linesIn(text), 0)
  const [longest] = functions
  print(
    `| ${name} | ${own.length} | ${lines} | ${longest === undefined ? '' : `${longest.lines}: \`${longest.name}\``} |`,
  )
}

const budget = 80
const over = all.filter(({ lines }) => lines > budget).sort((one, other) => other.lines - one.lines)
print(`\nFunctions of more than ${budget} lines: ${over.length}`)
for (const { name, path, lines } of over) print(`  ${lines} ${name} (${path})`)

const lookUps = await clientLookUps()
print(`\nLook-ups of the client in one sign-in: ${lookUps.reduce((sum, { count }) => sum + count, 0)}`)
for (const { request, count } of lookUps) print(`  ${count} ${request}`)
