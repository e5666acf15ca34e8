// A docstring tells what its name does not: the meaning, units, errors or the source.
import { expect, test } from 'vitest'
import { sources } from './source-files.ts'

/** Without the ending, so that `Creates` and `create` are one word. */
const stemOf = (word: string): string =>
  word
    .toLowerCase()
    .replace(/ies$/u, 'y')
    .replace(/(?:s|ed|ing)$/u, '')

const filler = new Set(
  'a an the of this that is are as in for to it its with and or by be from on at return create whether schema'
    .split(' ')
    .map(stemOf),
)

const stemsOf = (text: string, form: RegExp): ReadonlySet<string> =>
  new Set((text.match(form) ?? []).map(stemOf).filter((word) => !filler.has(word)))

/** The docstrings whose words are all in the name that they describe. */
const repeating = (text: string): readonly string[] =>
  [...text.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n *([^\n]*)/gu)].flatMap(([, comment = '', line = '']) => {
    const [, name = ''] =
      /(?:(?:export|async|readonly|const|function|interface|type) )*([A-Za-z_$][\w$]*)/u.exec(line) ?? []
    const parts = stemsOf(name, /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/gu)
    const words = [...stemsOf(comment, /[A-Za-z]+/gu)]
    const repeats = words.length > 0 && !comment.includes('@') && words.every((word) => parts.has(word))
    return repeats ? [`${name}: ${comment.trim()}`] : []
  })

test('finds a docstring that only repeats the name', () => {
  expect(repeating('/** Creates the schema of a client. */\nexport const clientSchema = 1')).toHaveLength(1)
  expect(repeating('/** The members that the core defines. */\nexport const clientSchema = 1')).toEqual([])
})

test('no docstring of the packages only repeats its name', () => {
  expect(sources.flatMap(({ path, text }) => repeating(text).map((sentence) => `${path}: ${sentence}`))).toEqual([])
})
