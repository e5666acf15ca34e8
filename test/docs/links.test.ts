import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './code-blocks.ts'

// Links of the documents lead to files and headings that exist.

const documents = execFileSync('git', ['ls-files', '-z', '*.md'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((name) => name !== '' && existsSync(join(root, name)))

const withoutCode = (text: string): string => text.replaceAll(/^(?:```|~~~)[\s\S]*?^(?:```|~~~)$/gmu, '')

/** The anchors that GitHub gives to the headings of a document. */
function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...withoutCode(text).matchAll(/^#+ (.+)$/gmu)].map(([, heading = '']) =>
    heading
      .replaceAll(/\]\([^)]*\)/gu, '')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  )
  return new Set(headings)
}

const linksOf = (text: string): readonly string[] =>
  [
    ...withoutCode(text)
      .replaceAll(/`[^`\n]*`/gu, '')
      .matchAll(/\]\(([^)\s]+)\)/gu),
  ].map(([, target = '']) => target)

function isBroken(document: string, target: string): boolean {
  if (/^[a-z]+:/u.test(target)) return false
  const [path = '', anchor] = target.split('#')
  const file = path === '' ? join(root, document) : join(root, dirname(document), path)
  if (!existsSync(file)) return true
  if (anchor === undefined || statSync(file).isDirectory() || !file.endsWith('.md')) return false
  return !anchorsOf(readFileSync(file, 'utf8')).has(anchor)
}

const broken = (document: string): readonly string[] =>
  linksOf(readFileSync(join(root, document), 'utf8'))
    .filter((target) => isBroken(document, target))
    .map((target) => `${document}: ${target}`)

test('every link of a document leads to a file, and its anchor to a heading', () => {
  expect(documents.length).toBeGreaterThan(100)
  expect(isBroken('README.md', 'docs/absent.md')).toBe(true)
  expect(isBroken('README.md', 'CONTRIBUTING.md#absent')).toBe(true)
  expect(isBroken('README.md', 'CONTRIBUTING.md#set-up')).toBe(false)
  expect(documents.flatMap(broken)).toEqual([])
})

test('every decision record that the code names exists', () => {
  const names = execFileSync('git', ['grep', '-ohE', 'docs/decisions/[0-9]{4}-[a-z0-9-]+\\.md', '--', '*.ts', '*.js'], {
    cwd: root,
    encoding: 'utf8',
  })
  const named = new Set(names.trim().split('\n'))
  expect(named.size).toBeGreaterThan(10)
  expect([...named].filter((name) => !existsSync(join(root, name)))).toEqual([])
})

test('the README links every guide', () => {
  const links = new Set(linksOf(readFileSync(`${root}/README.md`, 'utf8')))
  const guides = readdirSync(`${root}/docs/guides`).map((name) => `docs/guides/${name}`)
  expect(guides.filter((guide) => !links.has(guide))).toEqual([])
})
