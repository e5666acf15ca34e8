import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { root } from './code-blocks.ts'

// The phrases that docs/vocabulary.md rules out do not appear in any tracked text file.

/** The seed never changes, the style sheet names the phrases, and a lock file is generated. */
const exempt =
  /^docs\/spec\/seed\.md$|^docs\/vocabulary\.md$|^test\/docs\/style\.test\.ts$|(?:^|\/)LICENSE$|package-lock\.json$|\.(?:png|ico|svg)$/u

const phrasesOf = (sheet: string): readonly string[] => {
  const [, table = ''] = sheet.split('\n## Phrases\n')
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  return rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/gu)].map(([, phrase = '']) => phrase))
}

/** Matches any case except all capitals: RFC keywords such as SHALL are quotations. */
function patternOf(phrases: readonly string[]): RegExp {
  const words = phrases.map((phrase) => phrase.replace(/ /gu, '[\\s*/#>+\'"`]+'))
  return new RegExp(`(?<![\\w-])(?:${words.join('|')})(?![\\w-])`, 'giu')
}

const phrases = phrasesOf(readFileSync(`${root}/docs/vocabulary.md`, 'utf8'))
const pattern = patternOf(phrases)

const phrasesIn = (text: string): readonly string[] =>
  [...text.matchAll(pattern)]
    .filter(([phrase]) => phrase !== phrase.toUpperCase())
    .map(({ 0: phrase, index }) => `${text.slice(0, index).split('\n').length}: ${phrase}`)

const trackedFiles = (): readonly string[] =>
  execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean)

test('the style sheet lists phrases, and the pattern finds them across line breaks', () => {
  expect(phrases.length).toBeGreaterThan(20)
  expect(phrasesIn('It is told\n// by Whoever came')).toEqual(['1: is told', '2: Whoever'])
  expect(phrasesIn("# nobody\n# is; 'is ' +\n  'told'")).toEqual(['1: nobody', "2: is ' +\n  'told"])
  expect(phrasesIn('The key words SHALL and SHOULD; wholesale; to-shall-be')).toEqual([])
})

test('no tracked file uses a phrase that the style sheet rules out', () => {
  const files = trackedFiles()
  expect(files.length).toBeGreaterThan(500)
  const violations = files
    .filter((file) => !exempt.test(file))
    .flatMap((file) => phrasesIn(readFileSync(`${root}/${file}`, 'utf8')).map((place) => `${file}:${place}`))
  expect(violations).toEqual([])
})

test('no tracked file contains a conflict that was not resolved', () => {
  const marker = /^(?:<{7}|>{7}) /mu
  const files = trackedFiles().filter((file) => marker.test(readFileSync(`${root}/${file}`, 'utf8')))
  expect(marker.test(`a\n${'<'.repeat(7)} HEAD\n`)).toBe(true)
  expect(files).toEqual([])
})
