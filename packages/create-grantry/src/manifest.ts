import { createRequire } from 'node:module'

const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string }

/** The versions of packages of others, as the tests of this version use them. */
const versions: Readonly<Record<string, string>> = {
  '@hono/node-server': '^2.1.8',
  '@modelcontextprotocol/client': '^2.4.0',
  '@modelcontextprotocol/server': '^2.4.0',
  '@types/express': '^5.0.6',
  '@types/node': '^20.19.24',
  '@types/react': '^19.3.3',
  express: '^5.3.0',
  hono: '^4.13.19',
  ioredis: '^5.11.1',
  libsql: '^0.5.29',
  next: '^16.4.6',
  'openid-client': '^6.8.9',
  pg: '^8.23.1',
  react: '^19.3.1',
  'react-dom': '^19.3.1',
  tsx: '^4.23.15',
  typescript: '^7.0.2',
  wrangler: '^4.86.0',
  zod: '^4.6.7',
}

/** Returns the version, or the file, of a package. */
export type VersionOf = (name: string) => string

/** @param packed the directory with the packed packages, if they do not come from the registry */
export const versionsFrom =
  (packed: string | undefined): VersionOf =>
  (name) => {
    if (name !== 'grantry' && !name.startsWith('@grantry/')) return versions[name] ?? '*'
    if (packed === undefined) return `^${version}`
    return `file:${packed.replaceAll('\\', '/')}/${name.replace(/^@/u, '').replace('/', '-')}-${version}.tgz`
  }

interface Manifest {
  readonly name: string
  readonly scripts: Readonly<Record<string, string>>
  readonly packages: readonly string[]
  readonly development: readonly string[]
}

/** Returns `package.json`. */
export function manifest({ name, scripts, packages, development }: Manifest, versionOf: VersionOf): string {
  const listed = (names: readonly string[]) =>
    Object.fromEntries([...new Set(names)].sort().map((each) => [each, versionOf(each)]))
  const content = {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    scripts,
    dependencies: listed(packages),
    devDependencies: listed(development),
  }
  return `${JSON.stringify(content, undefined, 2)}\n`
}

const compilerOptions = {
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'esnext',
  moduleResolution: 'bundler',
  allowImportingTsExtensions: true,
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: true,
  noEmit: true,
}

/** Returns `tsconfig.json`. @param more further members that a place needs */
export const tsconfig = ({ compilerOptions: options, ...more }: { readonly compilerOptions?: object } = {}): string =>
  `${JSON.stringify({ compilerOptions: { ...compilerOptions, ...options }, include: ['*.ts'], ...more }, undefined, 2)}\n`
