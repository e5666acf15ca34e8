// An entry of a package loads what its `dependencies` have, and the peers that it is about. A static import of another
// optional peer makes a program fail at its start: `@grantry/users/sql` needed `pg` for users in SQLite.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
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

/** Those that programs bundle. */
const bundledEntries = entries.filter(([name]) => /plugins|users|storage-drivers/u.test(name))

const filesOf = (chosen: typeof entries): string[] => chosen.map(([, file]) => file)

const common = {
  bundle: true,
  write: false,
  outdir: '/',
  outbase: root,
  platform: 'node',
  format: 'esm',
  conditions: ['@grantry/source'],
} satisfies BuildOptions

// One build for all entries: the imports of a source are the same in each.
const { metafile } = await build({
  ...common,
  entryPoints: filesOf(entries),
  splitting: true,
  metafile: true,
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

/** Returns the sources that importing an entry loads, or can load later, and what they import of others. */
function importsOf(entry: string, isFollowed: (kind: string) => boolean) {
  const sources = new Set<string>()
  const loadedPackages = new Set<string>()
  const visit = (input: string): void => {
    if (sources.has(input)) return
    sources.add(input)
    for (const { path, kind, external } of metafile.inputs[input]?.imports ?? []) {
      if (!isFollowed(kind)) continue
      if (external === true) loadedPackages.add(packageOf(path))
      else visit(path)
    }
  }
  for (const { entryPoint } of Object.values(metafile.outputs)) {
    if (entryPoint !== undefined && resolve(entryPoint) === entry) visit(entryPoint)
  }
  expect(sources.size).toBeGreaterThan(0)
  return { sources, loadedPackages }
}

/** Returns the packages of others that importing an entry loads, also by our other packages. */
const loadedBy = (entry: string): readonly string[] => [
  ...importsOf(entry, (kind) => kind === 'import-statement').loadedPackages,
]

interface Missing {
  readonly text: string
  readonly location: { readonly file: string } | null
}

const builds = new Map<string, Promise<readonly Missing[]>>()

/** Bundles the entries as a program without these optional peers does. Returns what is missing, and where. */
function missingWithout(absent: readonly string[]): Promise<readonly Missing[]> {
  const key = String(absent)
  const started = builds.get(key)
  if (started !== undefined) return started
  const bundled = build({
    ...common,
    entryPoints: filesOf(bundledEntries),
    // Resolved to nothing. esbuild accepts that within `try`, as the bundlers of Next.js do.
    alias: Object.fromEntries(absent.map((peer) => [peer, `not-installed-${peer.replaceAll(/\W/gu, '-')}`])),
    logLevel: 'silent',
    logLimit: 0,
  })
    .catch((failure: { readonly errors: readonly Missing[] }) => failure)
    .then(({ errors }) => errors)
  builds.set(key, bundled)
  return bundled
}

/** Returns what is missing in an entry that is bundled without the optional peers that it is not about. */
async function missingIn(name: string, entry: string): Promise<readonly string[]> {
  const missing = await missingWithout([...optional].filter((peer) => !needed[name]?.includes(peer)))
  const { sources } = importsOf(entry, () => true)
  // The packages of others are not followed: what is missing in one of them counts for each entry.
  const isOurs = (file: string): boolean => !file.includes('node_modules/')
  const ofEntry = missing.filter(({ location }) => !location || !isOurs(location.file) || sources.has(location.file))
  return ofEntry.map(({ text }) => text)
}

describe('an entry of a package', () => {
  test.each(bundledEntries)('%s is bundled without the optional peers that it loads on demand', async (name, entry) => {
    expect((await missingIn(name, entry)).filter((text) => text.includes('not-installed-'))).toEqual([])
  })

  test.each(entries)('%s loads no optional peer that it is not about', (name, entry) => {
    const loaded = loadedBy(entry)
    expect(loaded.filter((peer) => optional.has(peer) && !needed[name]?.includes(peer))).toEqual([])
  })

  test('is followed to what it loads', () => {
    const find = (name: string): string => entries.find(([entry]) => entry === name)?.[1] ?? ''
    expect(loadedBy(find('@grantry/users/ldap'))).toContain('ldapts')
    expect(loadedBy(find('@grantry/storage-drivers/redis'))).toContain('ioredis')
    expect(optional).toContain('pg')
  })
})
