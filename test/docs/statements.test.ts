import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { packageFolders } from '../../scripts/package-folders.js'
import { sources } from '../architecture/source-files.ts'
import { root } from './code-blocks.ts'

// Statements of the documents that the code can contradict.

const read = (file: string): string => readFileSync(`${root}/${file}`, 'utf8')

test('the README counts the cases of the contract suite', () => {
  const counted = /^(\d+) cases, /mu.exec(read('docs/contract-suite.md'))?.[1]
  expect(/One suite of (\d+) cases/u.exec(read('README.md'))?.[1]).toBe(counted)
})

test('the guide to endpoints names what only endpoints of the core have', () => {
  const [, members = ''] = /export interface CoreEndpoint[\s\S]+?\{([\s\S]+?)\n\}/u.exec(
    sources.find(({ path }) => path.endsWith('/core-endpoint.ts'))?.text ?? '',
  ) ?? ['', '']
  const names = [...members.matchAll(/^ {2}readonly (\w+)\?:/gmu)].map(([, name = '']) => name)
  const [, text = ''] =
    /four members more([\s\S]+?)\.\n?\s/u.exec(read('docs/guides/custom-endpoint.md').replaceAll('.ts)', '')) ?? []
  expect(names).toHaveLength(4)
  expect([...text.matchAll(/`(\w+)`/gu)].map(([, name = '']) => name)).toEqual(names)
})

test('plugins/README.md names every export of @grantry/plugins', () => {
  const { exports } = JSON.parse(read('plugins/package.json')) as { exports: Record<string, unknown> }
  const expected = Object.keys(exports).filter((name) => name !== './package.json')
  const listed = [...read('plugins/README.md').matchAll(/^\| `@grantry\/plugins\/([\w-]+)`/gmu)].map(
    ([, name]) => `./${name}`,
  )
  expect(listed.sort()).toEqual(expected.sort())
})

test('the guide to embedding names every import path of the packages, and no other', () => {
  const ofServer = ['console', 'administration/import', 'mail/options', 'users/options', 'storage-drivers/clients'].map(
    (path) => `@grantry/${path}`,
  )
  const expected = packageFolders.flatMap((folder) => {
    const { name, exports } = JSON.parse(read(`${folder}/package.json`)) as Record<'name' | 'exports', string>
    const paths = Object.keys(exports).filter((path) => path !== './package.json')
    return paths.map((path) => `${name}${path.slice(1)}`)
  })
  const [, rows = ''] = /^\| import \|.*\n\| ---.*\n((?:\|.*\n)*)/mu.exec(read('docs/guides/embedding.md')) ?? []
  const named = rows.split('\n').flatMap((row) => {
    const names = [...(row.split(' | ')[0] ?? '').matchAll(/`([^`]+)`/gu)].map(([, name = '']) => name)
    const start = /^@grantry\/[^/]+/u.exec(names[0] ?? '')?.[0] ?? ''
    return names.map((name) => (name.startsWith('/') ? `${start}${name}` : name))
  })
  expect([...named, ...ofServer].sort()).toEqual(expected.sort())
})

const table = read('docs/vocabulary.md').split('\n## Fifteen terms to start with\n')[1]?.split('\n## ')[0] ?? ''
const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| term ') && !line.startsWith('| --- '))
const core = sources.filter(({ path }) => path.startsWith('packages/core/src/'))

test('the style sheet begins with fifteen terms', () => {
  expect(rows).toHaveLength(15)
})

const typeNames = table.match(/(?<=`)[A-Z]\w+(?=`)/gu) ?? []

test.each([...new Set(typeNames)])('the core declares the type %s of the style sheet once', (name) => {
  const declaration = new RegExp(`^export (?:type|interface) ${name}\\b`, 'mu')
  expect(core.filter(({ text }) => declaration.test(text)).map(({ path }) => path)).toHaveLength(1)
})

const readingOrders = read('CONTRIBUTING.md')
  .split(/^## /mu)
  .filter((section) => section.startsWith('How '))
  .map((section) => [/^.*$/mu.exec(section)?.[0] ?? '', section] as const)

test('CONTRIBUTING has three orders of reading', () => {
  expect(readingOrders.map(([title]) => title)).toEqual([
    'How a token request is handled',
    'How a sign-in is handled',
    'How an edit in the administration is handled',
  ])
})

test.each(readingOrders)('%s: every function that it names is one', (_title, section) => {
  const all = sources.map(({ text }) => text).join('\n')
  const names = [...section.matchAll(/`([a-z]\w+)(?:\(\))?`/gu)].map(([, name = '']) => name)
  const isCallable = (name: string): boolean =>
    new RegExp(`^(?: {4}|export )?(?:async )?(?:function )?${name}(?:<[^>]*>)?\\(`, 'mu').test(all)
  const isPlace = (name: string): boolean => name === 'plugins'
  // What `grants/commit.ts` creates is no function.
  expect(names.filter((name) => !isCallable(name) && !isPlace(name))).toEqual(names.includes('spent') ? ['spent'] : [])
})

test.each(readingOrders)('%s: every file and folder that it names exists', (_title, section) => {
  const base = /relative to\s+`([\w/-]+)`/u.exec(section)?.[1] ?? ''
  const names = [...section.matchAll(/`([\w./-]+(?:\.ts|\/))`/gu)].map(([, name = '']) => name)
  const missing = names.filter(
    (name) => !existsSync(`${root}/${name.startsWith('packages/') ? '' : `${base}/`}${name}`),
  )
  expect(names.length).toBeGreaterThan(7)
  expect(missing).toEqual([])
})
