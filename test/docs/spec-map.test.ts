import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow } from '../architecture/files-below.ts'
import { root } from './code-blocks.ts'

// The wire contract gives each rule an id, and titles of tests begin with ids. docs/spec-map.md is
// written from both by this test.

const contract = readFileSync(`${root}/docs/spec/wire-contract.md`, 'utf8')
/** An id stands before its rule, in bold. */
const ids = [...contract.matchAll(/\*\*(\d+\.\d+)\*\*\s/gu)].map(([, id = '']) => id)
const sections = [...contract.matchAll(/^## (\d+)\. ([^:(\n]+)/gmu)].map(([, number = '', title = '']) => ({
  number,
  title: title.trim(),
}))

interface Proof {
  readonly id: string
  readonly title: string
  readonly file: string
}

const titleOfARule = /(['"`])(\d+\.\d+) ((?:(?!\1).)+)\1/gu

const proofs: readonly Proof[] = filesBelow(join(root, 'test'))
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => posix.relative(join(root, 'test'), path))
  .sort()
  .flatMap((file) =>
    [...readFileSync(`${root}/test/${file}`, 'utf8').matchAll(titleOfARule)].map(([, , id = '', title = '']) => ({
      id,
      title,
      file,
    })),
  )

const numberOf = (id: string): number => Number(id.split('.')[1])

function rowsOf(section: string): readonly string[] {
  const proved = proofs.filter(({ id }) => id.startsWith(`${section}.`))
  const sorted = [...proved].sort((a, b) => numberOf(a.id) - numberOf(b.id))
  return [...new Set(sorted.map(({ id, title, file }) => `| ${id} | ${title.replaceAll('|', '\\|')} | \`${file}\` |`))]
}

const map = [
  '# Rules and the tests that prove them',
  '',
  'Every rule of the [wire contract](spec/wire-contract.md) has an id; the title of each test that proves it',
  'is the id and the text below. `npx vitest run test/docs/spec-map.test.ts --update` writes this file.',
  ...sections.flatMap(({ number, title }) => [
    '',
    `## ${number}. ${title}`,
    '',
    '| id | test | in |',
    '| --- | --- | --- |',
    ...rowsOf(number),
  ]),
  '',
].join('\n')

test('docs/spec-map.md lists the tests of each rule; run this test with --update to write it', async () => {
  await expect(map).toMatchFileSnapshot(`${root}/docs/spec-map.md`)
})

test('each id stands before one rule of docs/spec/wire-contract.md, in the section that it names', () => {
  expect(ids.length).toBeGreaterThan(300)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  const misplaced = contract.split(/^(?=## )/mu).flatMap((text) => {
    const section = /^## (\d+)\./u.exec(text)?.[1]
    return [...text.matchAll(/\*\*(\d+)\.\d+\*\*\s/gu)].filter(
      ([, number]) => number !== section && section !== undefined,
    )
  })
  expect(misplaced.map(([id]) => id)).toEqual([])
})

test('every rule of docs/spec/wire-contract.md has a test whose title begins with its id', () => {
  const proved = new Set(proofs.map(({ id }) => id))
  expect(ids.filter((id) => !proved.has(id))).toEqual([])
})

test('every id of a title is in docs/spec/wire-contract.md: write **id** before the rule there', () => {
  const known = new Set(ids)
  expect(proofs.filter(({ id }) => !known.has(id)).map(({ id, title, file }) => `${file}: ${id} ${title}`)).toEqual([])
})
