import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { processFolders } from '../../scripts/process-folders.ts'
import { filesBelow } from './files-below.ts'
import { importsOf } from './imports-of.ts'
import type { Source } from './source-files.ts'

// Tests that start processes, browsers or other runtimes are in the folders of the project `process`; those of the
// project `unit` share a process and must be fast.

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

const startsProcesses =
  /^(?:node:)?(?:child_process|cluster|worker_threads)$|^playwright|storage-drivers\/conformance$/u

/** Returns the shortest chain of imports from a file to a module that starts processes. */
function chainFrom(start: string, read: (path: string) => string | undefined): readonly string[] | undefined {
  const chains: (readonly string[])[] = [[start]]
  const seen = new Set<string>()
  for (const chain of chains) {
    const path = chain.at(-1) ?? ''
    if (startsProcesses.test(path)) return chain
    const text = seen.has(path) ? undefined : read(path)
    seen.add(path)
    if (text === undefined) continue
    for (const { target, type } of importsOf({ path, text })) if (!type) chains.push([...chain, target])
  }
  return undefined
}

const readFile = (path: string): string | undefined =>
  /\.[jt]s$/u.test(path) && existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined

const tests = filesBelow(join(root, 'test'))
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => posix.relative(root, path))
const self = 'test/architecture/projects.test.ts'
const isProcessTest = (path: string): boolean => processFolders.some((folder) => path.startsWith(`test/${folder}/`))

describe('the project unit', () => {
  test('starts no process, directly or through the files that it imports', () => {
    const unit = tests.filter((path) => !isProcessTest(path))
    expect(unit.length).toBeGreaterThan(200)
    expect(unit.map((path) => chainFrom(path, readFile)).filter((chain) => chain !== undefined)).toEqual([])
  })
})

describe('the project process', () => {
  test.each(processFolders)('has tests in %s that start processes', (folder) => {
    const chains = tests.filter((path) => path.startsWith(`test/${folder}/`)).map((path) => chainFrom(path, readFile))
    expect(chains).toContainEqual(expect.any(Array))
  })
})

describe('test files that share their modules', () => {
  test('load a module that they replace again, and so does the next file', () => {
    const replacing = tests.filter((path) => path !== self && readFile(path)?.includes('vi.mock('))
    expect(replacing.length).toBeGreaterThan(3)
    const leaking = replacing.filter(
      (path) =>
        !/vi\.hoisted\(\(\) => vi\.resetModules\(\)\)\nafterAll\(\(\) => void vi\.resetModules\(\)\)/u.test(
          readFile(path) ?? '',
        ),
    )
    expect(leaking).toEqual([])
  })
})

describe('the check', () => {
  const files: readonly Source[] = [
    { path: 'test/a/a.test.ts', text: "import { b } from '../support/b.ts'\nimport type { T } from './t.ts'" },
    { path: 'test/support/b.ts', text: "export { c } from './c.ts'" },
    { path: 'test/support/c.ts', text: "import { spawn } from 'node:child_process'\nimport { b } from './b.ts'" },
    { path: 'test/a/t.ts', text: "import { chromium } from 'playwright-core'" },
  ]
  const read = (path: string): string | undefined => files.find((file) => file.path === path)?.text

  test('finds a process behind several files', () => {
    const chain = ['test/a/a.test.ts', 'test/support/b.ts', 'test/support/c.ts', 'node:child_process']
    expect(chainFrom('test/a/a.test.ts', read)).toEqual(chain)
  })

  test('finds a browser', () => {
    expect(chainFrom('test/a/t.ts', read)).toEqual(['test/a/t.ts', 'playwright-core'])
  })

  test('accepts imports of types, which are erased', () => {
    const text = "import type { ChildProcess } from 'node:child_process'"
    expect(chainFrom('a.ts', (path) => (path === 'a.ts' ? text : undefined))).toBeUndefined()
  })
})
