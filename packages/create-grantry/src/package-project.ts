import { manifest, type VersionOf } from './manifest.ts'
import type { Project } from './part.ts'
import { templatesIn } from './templates.ts'

interface Manifest {
  readonly [member: string]: unknown
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** The packages of Grantry with the versions of this project, the others unchanged. */
const versioned = (listed: Readonly<Record<string, string>> = {}, versionOf: VersionOf) =>
  Object.fromEntries(
    Object.entries(listed).map(([name, version]) => [name, name.startsWith('@grantry/') ? versionOf(name) : version]),
  )

/** The package of a plugin or of a driver: a template, under another name. */
function templatePackage(what: 'plugin' | 'driver', name: string, versionOf: VersionOf): Project {
  const texts = templatesIn(what)
  const parsed: Manifest = JSON.parse(texts['package.json'] ?? '{}')
  const content = { ...parsed, name, devDependencies: versioned(parsed.devDependencies, versionOf) }
  return {
    files: { ...texts, 'package.json': `${JSON.stringify(content, undefined, 2)}\n` },
    ignored: ['node_modules/', 'dist/'],
    note: 'README.md describes the package.',
    hasTest: true,
    next: 'npm test',
  }
}

const serverPackages = [
  ...['grantry', '@grantry/adapters', '@grantry/administration', '@grantry/console', '@grantry/core', '@grantry/mail'],
  ...['@grantry/pages', '@grantry/plugins', '@grantry/storage-drivers', '@grantry/users'],
]

/** The ready server, with the configuration that `grantry init` writes. */
const server = (name: string, versionOf: VersionOf): Project => ({
  files: {
    'package.json': manifest(
      {
        name,
        scripts: { start: 'grantry serve', check: 'grantry check', 'sign-in': 'grantry login test --client web' },
        // The registry brings all of them with the first one; packed packages are named one by one.
        packages: versionOf('grantry').startsWith('file:') ? serverPackages : ['grantry'],
        development: [],
      },
      versionOf,
    ),
  },
  ignored: ['node_modules/', '/grantry.env', '/data/'],
  note: 'Keep what was printed above: the secrets are shown once.',
  setUp: 'node node_modules/grantry/bin/grantry.js init . --sign-in alice',
  hasTest: false,
  start: 'node node_modules/grantry/bin/grantry.js serve --port 0',
  next: 'npm start',
})

export const packageProject = (what: 'server' | 'plugin' | 'driver', name: string, versionOf: VersionOf): Project =>
  what === 'server' ? server(name, versionOf) : templatePackage(what, name, versionOf)
