import { readFileSync } from 'node:fs'
import { defineConfig, type Options } from 'tsup'
import { consolePageDefine } from './scripts/console-page.js'
import { withLicences } from './scripts/licences.ts'

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly '@grantry/source': string }>>
}

const folders = ['packages/core', 'packages/storage-drivers', 'packages/adapters', 'packages/server', 'plugins']

// What is run or imported from outside without being an export.
const more: Readonly<Record<string, readonly string[]>> = { 'packages/server': ['./src/cli.ts'] }

/** The entries are the sources that each package's `exports` name. */
function entriesOf(folder: string): Record<string, string> {
  const manifest: Manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  const sources = [
    ...Object.values(manifest.exports).map((target) => target['@grantry/source']),
    ...(more[folder] ?? []),
  ]
  return Object.fromEntries(
    sources.map((source) => [source.replace(/^\.\/(?:src\/)?/u, '').replace(/\.ts$/u, ''), `${folder}/${source}`]),
  )
}

const version: string = JSON.parse(readFileSync('packages/server/package.json', 'utf8')).version

const common = {
  format: 'esm',
  target: 'es2022',
  dts: false,
  // `clean` would delete the declarations that tsc has put there.
  clean: false,
  silent: true,
  define: { grantryVersion: JSON.stringify(version), ...consolePageDefine() },
} as const

/** `grantry.mjs`: the server and all its packages in one file, to be copied anywhere. Decision 0024 tells why it is as it is. */
const singleFile: Options = {
  ...common,
  entry: { grantry: 'packages/server/src/single-file.ts' },
  outDir: 'packages/server/dist',
  outExtension: () => ({ js: '.mjs' }),
  platform: 'node',
  target: 'node20',
  splitting: false,
  sourcemap: false,
  noExternal: [/./],
  // A nicety of `debug` that it does without.
  external: ['supports-color'],
  // CommonJS among the packages asks for Node's modules by `require`.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  esbuildPlugins: [withLicences],
  esbuildOptions(options) {
    options.conditions = ['@grantry/source']
    // The CommonJS of jsonc-parser finds its parts by computed names.
    options.mainFields = ['module', 'main']
    // Whoever reads a stack trace finds the names of functions in it.
    options.minifyWhitespace = true
    options.minifySyntax = true
    options.alias = { jiti: 'jiti/static' }
  },
}

export default defineConfig([
  ...folders.map((folder) => ({
    ...common,
    entry: entriesOf(folder),
    outDir: `${folder}/dist`,
    sourcemap: true,
    external: [/^[^./]/],
  })),
  singleFile,
])
