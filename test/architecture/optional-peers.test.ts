// An entry of a package loads what its `dependencies` have, and the peers that it is about. A static import of another
// optional peer makes a program fail at its start: `@grantry/users/sql` needed `pg` for users in SQLite.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { packages, root } from './source-files.ts'

interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

/** The peers that an entry is about. A program that imports it has them. */
const needed: Readonly<Record<string, readonly string[]>> = {
  '@grantry/storage-drivers/redis': ['ioredis'],
  '@grantry/users/ldap': ['ldapts'],
  '@grantry/next/client': ['openid-client'],
  'grantry/opentelemetry': ['@opentelemetry/api'],
}

const manifests = packages.map((folder): readonly [string, Manifest] => [
  folder,
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')),
])

const entries = manifests.flatMap(([folder, { name, exports }]) =>
  Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === 'string'
      ? []
      : [[name + subpath.slice(1), join(root, folder, target['@grantry/source'] ?? '')] as const],
  ),
)

const optional = new Set(
  manifests.flatMap(([, { peerDependenciesMeta = {} }]) =>
    Object.entries(peerDependenciesMeta).flatMap(([name, meta]) => (meta.optional === true ? [name] : [])),
  ),
)

/** The package of an import: `pg` of `pg/lib/client`. */
const packageOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')

/** Returns the packages of others that importing an entry loads, also by our other packages. */
async function loadedBy(entry: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    outdir: '/',
    splitting: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@grantry/source'],
    logLevel: 'error',
    plugins: [
      {
        name: 'others-are-external',
        setup(plugin) {
          plugin.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
            kind === 'entry-point' || path.startsWith('@grantry/') ? undefined : { path, external: true },
          )
        },
      },
    ],
  })
  const seen = new Set<string>()
  const loadedPackages = new Set<string>()
  const visit = (input: string): void => {
    if (seen.has(input)) return
    seen.add(input)
    for (const { path, kind, external } of metafile.inputs[input]?.imports ?? []) {
      if (kind !== 'import-statement') continue
      if (external === true) loadedPackages.add(packageOf(path))
      else visit(path)
    }
  }
  for (const { entryPoint } of Object.values(metafile.outputs)) {
    if (entryPoint !== undefined && join(root, entryPoint) === entry) visit(entryPoint)
  }
  expect(seen.size).toBeGreaterThan(0)
  return [...loadedPackages]
}

/** Bundles an entry as a program without the optional peers does, and returns what is missing. */
async function missingIn(name: string, entry: string): Promise<readonly string[]> {
  const absent = [...optional].filter((peer) => !needed[name]?.includes(peer))
  const bundled = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    outdir: '/',
    platform: 'node',
    format: 'esm',
    conditions: ['@grantry/source'],
    // Resolved to nothing. esbuild accepts that within `try`, as the bundlers of Next.js do.
    alias: Object.fromEntries(absent.map((peer) => [peer, `not-installed-${peer.replaceAll(/\W/gu, '-')}`])),
    logLevel: 'silent',
  }).catch((failure: { readonly errors: readonly { readonly text: string }[] }) => failure)
  return bundled.errors.map(({ text }) => text)
}

describe('an entry of a package', () => {
  test.each(entries.filter(([name]) => /plugins|users|storage-drivers/u.test(name)))(
    '%s is bundled without the optional peers that it loads on demand',
    async (name, entry) => {
      expect((await missingIn(name, entry)).filter((text) => text.includes('not-installed-'))).toEqual([])
    },
  )

  test.each(entries)('%s loads no optional peer that it is not about', async (name, entry) => {
    const loaded = await loadedBy(entry)
    expect(loaded.filter((peer) => optional.has(peer) && !needed[name]?.includes(peer))).toEqual([])
  })

  test('is followed to what it loads', async () => {
    const find = (name: string): string => entries.find(([entry]) => entry === name)?.[1] ?? ''
    expect(await loadedBy(find('@grantry/users/ldap'))).toContain('ldapts')
    expect(await loadedBy(find('@grantry/storage-drivers/redis'))).toContain('ioredis')
    expect(optional).toContain('pg')
  })
})
