import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { root } from './code-blocks.ts'

/** The rows of docs/spec-map.md: rule id, rule, test title, test file. */
const rows = [
  ...readFileSync(`${root}/docs/spec-map.md`, 'utf8').matchAll(
    /^\| (\d+\.\d+) \| (.+?) \| (.+?) \| `([^`]+)`.* \|$/gmu,
  ),
].map(([, id = '', rule = '', title = '', file = '']) => ({ id, rule, title, file }))

/** The test titles that start with a rule id. */
const titles = readdirSync(`${root}/test`, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .flatMap((name) => [...readFileSync(`${root}/test/${name}`, 'utf8').matchAll(/(['"`])(\d+\.\d+ (?:(?!\1).)+)\1/gu)])
  .map(([, , title = '']) => title)

describe('docs/spec-map.md', () => {
  test('names only existing tests', () => {
    expect(rows.map(({ title }) => title).filter((title) => !titles.includes(title))).toEqual([])
  })

  test('names every test that proves a rule', () => {
    const mapped = new Set(rows.map(({ title }) => title))
    expect(titles.filter((title) => !mapped.has(title))).toEqual([])
  })

  test('names the file of the test', () => {
    const isIn = (file: string, title: string) => readFileSync(`${root}/test/${file}`, 'utf8').includes(title)
    expect(rows.filter(({ file, title }) => !isIn(file, title))).toEqual([])
  })

  test('gives each id to one rule', () => {
    const rules = new Map<string, Set<string>>()
    for (const { id, rule } of rows) rules.set(id, (rules.get(id) ?? new Set()).add(rule))
    expect([...rules].filter(([, texts]) => texts.size > 1)).toEqual([])
  })

  test('has titles that start with the rule id', () => {
    expect(rows.filter(({ id, title }) => !title.startsWith(`${id} `))).toEqual([])
  })

  test.each([
    ['1', 20],
    ['2', 10],
    ['3', 40],
    ['4', 8],
    ['5', 8],
    ['6', 6],
    ['7', 8],
    ['8', 6],
    ['9', 3],
    ['10', 5],
    ['11', 20],
    ['13', 10],
    ['14', 9],
    ['15', 9],
    ['16', 10],
  ])('covers section %s of the wire contract', (section, least) => {
    const rules = new Set(rows.filter(({ id }) => id.startsWith(`${section}.`)).map(({ id }) => id))
    expect(rules.size).toBeGreaterThanOrEqual(least)
  })
})
