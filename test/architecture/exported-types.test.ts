import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseAst } from 'vite'
import { expect, test } from 'vitest'
import { packages, root, sources } from './source-files.ts'

// A reader who meets a type must know which one it is: two packages do not export different types of one name.

interface Node {
  readonly type: string
  readonly id?: { readonly name: string } | null
  readonly declaration?: Node | null
  readonly source?: { readonly value: string } | null
  readonly specifiers?: readonly { readonly local: { name: string }; readonly exported: { name: string } }[]
}

/** The source file of each entry, by the name under which programs import it. */
const entries = new Map<string, string>()
for (const folder of packages) {
  const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  for (const [subpath, target] of Object.entries<{ '@grantry/source'?: string }>(manifest.exports)) {
    const source = target['@grantry/source']
    if (source !== undefined) entries.set(posix.join(manifest.name, subpath), posix.join(folder, source))
  }
}

const texts = new Map(sources.map(({ path, text }) => [path, text]))
const bodyOf = (path: string): readonly Node[] =>
  (parseAst(texts.get(path) ?? '', { lang: 'ts' }, path) as unknown as { readonly body: readonly Node[] }).body

const isTypeDeclaration = ({ type }: Node): boolean =>
  ['TSInterfaceDeclaration', 'TSTypeAliasDeclaration'].includes(type)

/** Returns where each exported type of a file is declared. */
function typesOf(path: string): ReadonlyMap<string, string> {
  const origins = new Map<string, string>()
  const body = bodyOf(path)
  const declarations = body
    .flatMap((node) => [node, ...(node.declaration ? [node.declaration] : [])])
    .filter(isTypeDeclaration)
  const declared = new Set(declarations.map(({ id }) => id?.name ?? ''))
  for (const { type, declaration, source, specifiers = [] } of body) {
    if (!type.startsWith('Export')) continue
    if (declaration?.id && isTypeDeclaration(declaration)) origins.set(declaration.id.name, path)
    const name = source?.value ?? ''
    const target = name.startsWith('.') ? posix.join(posix.dirname(path), name) : entries.get(name)
    const there = target === undefined ? new Map<string, string>() : typesOf(target)
    if (type === 'ExportAllDeclaration') for (const [exportedName, origin] of there) origins.set(exportedName, origin)
    for (const { local, exported } of specifiers) {
      const origin = source ? there.get(local.name) : declared.has(local.name) ? path : undefined
      if (origin !== undefined) origins.set(exported.name, origin)
    }
  }
  return origins
}

test('packages export each name of a type for one declaration only', () => {
  const origins = new Map<string, Set<string>>()
  for (const path of entries.values()) {
    for (const [name, origin] of typesOf(path)) origins.set(name, (origins.get(name) ?? new Set()).add(origin))
  }
  expect([...origins.keys()]).toContain('ProviderOptions')
  const several = [...origins].filter(([, declarations]) => declarations.size > 1)
  expect(several.map(([name, declarations]) => [name, ...declarations])).toEqual([])
})
