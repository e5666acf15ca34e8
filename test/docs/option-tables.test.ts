// An option or member without a row in its guide fails a test, and so does a row that names nothing.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { optionSchemas } from '../../scripts/written-tables.ts'
import { sources } from '../architecture/source-files.ts'
import { root } from './code-blocks.ts'
import { type OptionTable, optionTables } from './option-tables.ts'

const read = (file: string): string => readFileSync(`${root}/${file}`, 'utf8')

/** The source of a constant that an object in `source` spreads. */
const sourceOf = (name: string, source: string): string | undefined =>
  [source, ...sources.map(({ path }) => path)].find((path) =>
    new RegExp(`^(?:export )?const ${name}\\b`, 'mu').test(read(path)),
  )

/** The names of the members of an interface or an object in a source, with those that it spreads, but not what it extends. */
function declaredIn(declaration: string): readonly string[] {
  const [source = '', name = ''] = declaration.split('#')
  const [, text] = read(source).split(new RegExp(`^(?=(?:export )?(?:interface|const) ${name}\\b)`, 'mu'))
  if (text === undefined) throw new Error(`${declaration} is not declared`)
  const [, indent = '', body = ''] = /^( *)\S[^\n]*\{\n(.*?)^\1\}/msu.exec(text) ?? []
  const lines = body.matchAll(
    new RegExp(`^ {${indent.length + 2}}(\\.\\.\\.|readonly )?(\\w+)\\??(?=[.:(<,]|$)`, 'gmu'),
  )
  return [...lines].flatMap(([, before, member = '']) => {
    if (before !== '...') return [member]
    const from = sourceOf(member, source)
    return from === undefined ? [] : declaredIn(`${from}#${member}`)
  })
}

interface Table {
  readonly at: string
  readonly header: string
  readonly names: readonly string[]
}

/** The names in the first column: `servers[].acrValues`, `maxAge` are two of `servers[]`. */
function namesIn(cell: string): readonly string[] {
  const names = [...cell.matchAll(/`([^`]+)`/gu)].map(([, name = '']) => name.replace(/\(.*$/u, ''))
  const path = /^.*[.\]](?=\w)/u.exec(names[0] ?? '')?.[0] ?? ''
  return names.map((name) => (name.startsWith(path) ? name : `${path}${name}`))
}

function tablesOf(guide: string): readonly Table[] {
  const sections = read(`docs/guides/${guide}.md`)
    .replaceAll(/<!-- written: (.+?) -->.*?<!-- end of \1 -->/gsu, '')
    .split(/^#+ /mu)
  return sections.flatMap((section) => {
    const heading = /^.*$/mu.exec(section)?.[0] ?? ''
    return [...section.matchAll(/^\| (.+)\n\| ---.*\n((?:\|.*\n?)*)/gmu)].map(([, header = '', rows = '']) => ({
      at: `${guide}#${heading}`,
      header: header.split(' | ')[0] ?? '',
      names: rows.split('\n').flatMap((row) => namesIn(row.split(' | ')[0] ?? '')),
    }))
  })
}

const tables = readdirSync(`${root}/docs/guides`).flatMap((name) => tablesOf(name.replace(/\.md$/u, '')))
const ofOptions = tables.filter(({ header }) => /^(?:option|setting|member)\b/u.test(header))

function problemsOf({ at, of, nested = {}, also = [] }: OptionTable): readonly string[] {
  const documented = ofOptions.filter((table) => table.at === at).flatMap(({ names }) => names)
  const declared = [
    ...also,
    ...of.flatMap(declaredIn),
    ...Object.entries(nested).flatMap(([path, list]) => list.flatMap(declaredIn).map((name) => `${path}${name}`)),
  ]
  const isShown = (name: string): boolean =>
    documented.includes(name) || documented.some((row) => row.startsWith(`${name}.`) || row.startsWith(`${name}[]`))
  const isDeclared = (name: string): boolean =>
    declared.includes(name) || declared.includes(name.replace(/[.[].*$/u, ''))
  return [
    ...declared.filter((name) => !isShown(name)).map((name) => `no row for ${name}`),
    ...documented.filter((name) => !isDeclared(name)).map((name) => `a row for ${name}, which is not declared`),
  ]
}

test.each(optionTables)('$at has a row for each option', (table) => {
  expect(problemsOf(table)).toEqual([])
})

test('finds a missing row, and one that names nothing', () => {
  const { at, of } = optionTables.find((table) => table.at === 'sqlite#SQLite') ?? { at: '#', of: [] }
  expect(problemsOf({ at, of, also: ['newOption'] })).toEqual(['no row for newOption'])
  expect(problemsOf({ at, of: ['packages/storage-drivers/src/d1.ts#D1DriverOptions'] })).toContain(
    'a row for synchronous, which is not declared',
  )
})

/** Options that have no table of their own. */
const withoutTable: readonly RegExp[] = [
  // Those of other schemas, which have tables.
  /^plugins\/(?:device-authorization\/(?:sign-in|device-options)|upstream\/upstream-options|id-jag\/id-jag-options)\.ts#/u,
  // One row of the table of presets for each.
  /^plugins\/upstream\/presets\//u,
  // One option: `pages`, `clients`, `encryptionSecrets`, `rpId`.
  /^plugins\/(?:error-pages\/error-pages|fapi2\/fapi2|one-time-password\/stored-factors|passkeys\/stored-passkeys)\.ts#/u,
]

test('the options of each plugin are in a table', () => {
  const inTables = [
    ...Object.values(optionSchemas).map(([, place]) => place),
    ...optionTables.flatMap(({ of, nested = {} }) => [of, ...Object.values(nested)].flat()),
  ]
  const declared = sources
    .filter(({ path }) => path.startsWith('plugins/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\bOptionsOf<typeof (\w+)>/gu)].map(([, name = '']) => `${sourceOf(name, path)}#${name}`),
    )
  expect(declared.length).toBeGreaterThan(25)
  const isKnown = (place: string): boolean =>
    inTables.includes(place) || withoutTable.some((places) => places.test(place))
  expect(declared.filter((place) => !isKnown(place))).toEqual([])
})

test('each table of options is compared with its declarations', () => {
  const compared = optionTables.map(({ at }) => at)
  expect(ofOptions.map(({ at }) => at).filter((at) => !compared.includes(at as never))).toEqual([])
})
