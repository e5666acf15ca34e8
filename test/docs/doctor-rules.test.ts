// A rule of grantry check is one value. Its row in the guide, and its id among those that an operator can accept, are
// written from it.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { RuleText } from '../../packages/server/src/check-rules/rule.ts'
import { rules } from '../../packages/server/src/doctor/rules.ts'
import { root } from './code-blocks.ts'

const guide = `${root}/docs/guides/doctor.md`
const marks = [
  '<!-- rules: written by test/docs/doctor-rules.test.ts -->\n\n',
  '\n\n<!-- end of the rules -->',
] as const

const rowOf = ({ id, severity, remedy, source }: RuleText): string =>
  `| \`${id}\` | ${severity} | ${remedy.replaceAll('|', '\\|')} | ${source} |`

/** Returns a text with this table between the marks. */
function withRows(text: string, table: readonly RuleText[]): string {
  const [before = '', rest = ''] = text.split(marks[0])
  const [, after = ''] = rest.split(marks[1])
  const rows = ['| id | severity | what to do | source |', '| --- | --- | --- | --- |', ...table.map(rowOf)].join('\n')
  return `${before}${marks[0]}${rows}${marks[1]}${after}`
}

/** Returns the words in lines of at most 110 characters. */
const lines = (words: readonly string[]): string =>
  words.join(' ').replaceAll(/(?=\S).{1,110}(?: |$)/gu, (line) => `  ${line.trimEnd()}\n`)

// An error cannot be accepted, nor the finding about what is accepted.
const acceptable = rules.filter(({ id, severity }) => severity !== 'error' && id !== 'acceptance-unused')

const acceptableFile = `/**
 * The ids of the findings that an operator can accept. They are a list, because a configuration is read without the
 * rules themselves. \`npx vitest run test/docs/doctor-rules.test.ts --update\` writes this file.
 */
export const acceptable: readonly string[] = \`
${lines(acceptable.map(({ id }) => id))}\`
  .trim()
  .split(/\\s+/u)
`

test('docs/guides/doctor.md lists the rules; run this test with --update to write it', async () => {
  await expect(withRows(readFileSync(guide, 'utf8'), rules)).toMatchFileSnapshot(guide)
})

test('check-rules/acceptable.ts lists what can be accepted; run this test with --update to write it', async () => {
  await expect(acceptableFile).toMatchFileSnapshot(`${root}/packages/server/src/check-rules/acceptable.ts`)
})

test('a rule without a row in the guide is noticed', () => {
  const planted = { id: 'planted', severity: 'info', remedy: 'remove it', source: 'docs/guides/doctor.md' } as const
  const text = withRows(readFileSync(guide, 'utf8'), rules)
  expect(withRows(text, [...rules, planted])).not.toBe(text)
  expect(withRows(withRows(text, [...rules, planted]), rules)).toBe(text)
})
