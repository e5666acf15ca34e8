import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { root } from './code-blocks.ts'

// docs/decisions/README.md lists every decision record once, by subject.

const folder = `${root}/docs/decisions`
const files = readdirSync(folder).filter((name) => /^\d{4}-[a-z0-9-]+\.md$/u.test(name))
const index = readFileSync(`${folder}/README.md`, 'utf8')
const measurements = readFileSync(`${root}/docs/measurements.md`, 'utf8')
const lines = index.split('\n').filter((line) => line.startsWith('* '))

const numberOf = (name: string): number => Number(name.slice(0, 4))
const headingOf = (file: string): string => /^# (.+)$/mu.exec(readFileSync(`${folder}/${file}`, 'utf8'))?.[1] ?? ''
const numbersIn = (text = ''): readonly number[] => [...text.matchAll(/\d+/gu)].map(([digits]) => Number(digits))

test('each record has its line: write it into docs/decisions/README.md, under its subject', () => {
  expect(files.length).toBeGreaterThan(80)
  const expected = files.map((file) => `* [${headingOf(file)}](${file})`)
  const listed = lines.filter((line) => !line.includes('](../measurements.md#'))
  expect([...listed].sort()).toEqual(expected.sort())
})

test('the heading of each record starts with the number of its file, and no number is used twice', () => {
  expect(files.filter((file) => !headingOf(file).startsWith(`${numberOf(file)}. `))).toEqual([])
  expect(new Set(files.map(numberOf)).size).toBe(files.length)
})

test('each record has the headings Context, Decision and Alternatives', () => {
  const headings = ['Context', 'Decision', 'Alternatives']
  const without = (file: string) =>
    headings.some((heading) => !new RegExp(`^## ${heading}$`, 'mu').test(readFileSync(`${folder}/${file}`, 'utf8')))
  expect(files.filter(without)).toEqual([])
})

const moved = [...measurements.matchAll(/^## ((\d+)\. .+)$/gmu)].map(([, heading = '', digits]) => ({
  heading,
  number: Number(digits),
}))

test('the index names the records that docs/measurements.md contains', () => {
  const listed = lines.filter((line) => line.includes('](../measurements.md#'))
  const names = listed.map((line) => line.slice(3, line.lastIndexOf('](')))
  expect(names).toEqual(moved.map(({ heading }) => heading))
})

test('the index explains each number that has no record', () => {
  const used = new Set([...files.map(numberOf), ...moved.map(({ number }) => number)])
  const highest = Math.max(...used)
  const gaps = Array.from({ length: highest }, (_, position) => position + 1).filter((number) => !used.has(number))
  expect(numbersIn(/^Numbers without a record: ([\d, \n]+)\./mu.exec(index)?.[1])).toEqual(gaps)
})
