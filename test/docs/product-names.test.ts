// Names that operators and clients see, in both directions: each has a row, and each row names something.
import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { coreErrors } from '../../packages/core/src/errors/error-codes.ts'
import { sources } from '../architecture/source-files.ts'
import { printed } from '../server/printed.ts'
import { root } from './code-blocks.ts'

const read = (file: string): string => readFileSync(`${root}/${file}`, 'utf8')
const guides = readdirSync(`${root}/docs/guides`).map((name) => `docs/guides/${name}`)
const namesIn = (text: string): readonly string[] => [...text.matchAll(/`([^`\n]+)`/gu)].map(([, name = '']) => name)

/** The names in the first cells of the tables with this header. */
const firstCells = (file: string, header: string): readonly string[] =>
  [...read(file).matchAll(new RegExp(`^\\| ${header} \\|.*\\n\\| ---.*\\n((?:\\|.*\\n)*)`, 'gmu'))].flatMap(
    ([, rows = '']) => rows.split('\n').flatMap((row) => namesIn(row.split(' | ')[0] ?? '')),
  )

/** The literals that follow a member or a call in the sources whose path has this start. */
const literals = (start: string, form: RegExp): readonly string[] =>
  sources
    .filter(({ path }) => path.startsWith(start))
    .flatMap(({ text }) => [...text.matchAll(form)].flatMap(([, literal = '']) => literal.match(/\w+/gu) ?? []))

const only = (names: readonly string[], others: readonly string[]): readonly string[] => [
  ...new Set(names.filter((name) => !others.includes(name))),
]

test('the table of events has the types of the core, and no other', () => {
  const types = literals('packages/core/src/events/', /readonly type:((?: \|? ?'\w+')+)/gu)
  const rows = firstCells('docs/events.md', 'type')
  expect(types.length).toBeGreaterThan(40)
  expect(only(types, rows)).toEqual([])
  expect(only(rows, types)).toEqual([])
})

test('the documents name each event of the server', () => {
  const types = literals('packages/server/src/observability/server-event.ts', /readonly type:((?: \|? ?'\w+')+)/gu)
  expect(types.length).toBeGreaterThan(4)
  expect(only(types, namesIn(read('docs/events.md')))).toEqual([])
})

test('the table of metrics has those of the server, and no other', () => {
  const metrics = literals('packages/server/src/observability/', /'(grantry_\w+)'/gu)
  const rows = firstCells('docs/guides/observability.md', 'metric')
  expect(metrics.length).toBeGreaterThan(15)
  expect(only(metrics, rows)).toEqual([])
  expect(only(rows, metrics)).toEqual([])
})

test('the documents name each error code', () => {
  const ofPlugins = [...sources.flatMap(({ text }) => [...text.matchAll(/interface OAuthErrorCodes \{([^}]*)\}/gu)])]
  const codes = [...Object.keys(coreErrors), ...ofPlugins.flatMap(([, body = '']) => body.match(/\w+(?=: )/gu) ?? [])]
  const documents = ['docs/spec/wire-contract.md', ...guides].map(read).join('\n')
  expect(codes.length).toBeGreaterThan(20)
  expect(codes.filter((code) => !new RegExp(`\\b${code}\\b`, 'u').test(documents))).toEqual([])
})

describe('the commands', () => {
  const options = new Set<string>()
  const commands: string[] = []
  beforeAll(async () => {
    const { out } = await printed('completion', 'bash')
    for (const [, key = '', words = ''] of out.matchAll(/^ {4}'([^']*)'\) printf '%s\\n' (.*) ;;$/gmu)) {
      const path = key.trim()
      if (/ -/u.test(` ${path}`)) continue
      if (path !== '') commands.push(path)
      for (const [, word = ''] of words.matchAll(/'(--?[\w-]+)'/gu)) options.add(word)
    }
  })

  test('are in the table of the package, and no other', () => {
    let parent = ''
    const rows = firstCells('packages/server/README.md', 'command').map((name) => {
      if (commands.includes(name)) parent = name.replace(/ ?[^ ]+$/u, '')
      return commands.includes(name) ? name : `${parent} ${name}`.trim()
    })
    expect(commands.length).toBeGreaterThan(40)
    expect(rows.filter((name) => !commands.includes(name))).toEqual([])
    const isCovered = (path: string): boolean => rows.some((name) => path === name || path.startsWith(`${name} `))
    const leaves = commands.filter((path) => !commands.some((command) => command.startsWith(`${path} `)))
    expect(leaves.filter((path) => !isCovered(path))).toEqual([])
  })

  test('have the options that the documents name', () => {
    const documents = ['README.md', 'packages/server/README.md', ...guides, 'docs/events.md']
    const unknown = documents.flatMap((file) =>
      [...read(file).matchAll(/(?<!create-)\bgrantry(?: [a-z-]+){1,3}(?: [^\n`|&]*?)?(?= --)[^\n`|&]*/gu)].flatMap(
        ([line]) =>
          (line.match(/(?<= )--[a-z-]+/gu) ?? [])
            .filter((name) => !options.has(name))
            .map((name) => `${file}: ${line}: ${name}`),
      ),
    )
    expect(unknown).toEqual([])
  })
})
