// What needs many words is prose below the table, with a sentence for each thought.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { packageFolders } from '../../scripts/package-folders.js'
import { root } from './code-blocks.ts'

const most = 40

const documents = [
  ...['README.md', 'CONTRIBUTING.md'],
  ...packageFolders.map((folder) => `${folder}/README.md`),
  ...readdirSync(`${root}/docs`, { recursive: true, encoding: 'utf8' }).map((name) => `docs/${name}`),
].filter((path) => path.endsWith('.md'))

/** The cells of tables with too many words, each with its line. */
const longCells = (text: string): readonly string[] =>
  text
    .replaceAll(/^```.*?^```/gmsu, '')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .filter((line) => line.split(/(?<!\\)\|/u).some((cell) => cell.trim().split(/\s+/u).length > most))

test(`finds a cell of more than ${most} words`, () => {
  const words = (count: number): string => Array.from({ length: count }, () => 'word').join(' ')
  expect(longCells(`| a | ${words(most)} |`)).toEqual([])
  expect(longCells(`| a | ${words(most + 1)} |`)).toHaveLength(1)
})

test.each(documents)('the tables of %s are short', (path) => {
  expect(longCells(readFileSync(`${root}/${path}`, 'utf8'))).toEqual([])
})
