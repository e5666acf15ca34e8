import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { exactOptionalProperties, publicEntries } from './optional-properties.js'

// A program with `exactOptionalPropertyTypes` can pass `undefined` for an optional property only if its type allows it.

const root = fileURLToPath(new URL('../..', import.meta.url))
const packages = ['packages/core', 'packages/storage-drivers', 'packages/adapters', 'packages/server', 'plugins']

const directory = mkdtempSync(join(tmpdir(), 'grantry-types-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

test('optional properties of all public types accept undefined, unless that would turn a protection off', () => {
  const { found, types } = exactOptionalProperties(publicEntries(root, packages))
  expect(new Set(found.map((path) => path.split('.').at(-1)))).toEqual(new Set(['encryptionSecret', 'proof_key']))
  expect(types).toBeGreaterThan(1000)
})

test('the check finds properties of options, results, type aliases, classes and mapped types', () => {
  const file = join(directory, 'a.ts')
  writeFileSync(
    file,
    `interface Options { readonly inOptions?: string; readonly fine?: string | undefined; readonly nested: readonly { inArray?: 1 }[] }
export declare function create(options: Options): Promise<{ inResult?: boolean }>
export type Alias = { inAlias?: () => void } | string
export class Thing { inClass?: number }
export type Mapped = Partial<Record<'mapped', number>>
export declare const constant: { unchecked?: string }
`,
  )
  const names = exactOptionalProperties([file]).found.map((path) => path.split('.').at(-1))
  expect(names.sort()).toEqual(['inAlias', 'inArray', 'inClass', 'inOptions', 'inResult', 'mapped'])
})
