import { readFileSync } from 'node:fs'
import { defineConfig, type Options } from 'tsup'
import { consolePagesDefine } from './scripts/console-pages.js'
import { hashFunctionsDefine } from './scripts/hash-functions.js'
import { withLicences } from './scripts/licences.ts'
import { packageFolders } from './scripts/package-folders.js'
import { templateFilesDefine } from './scripts/template-files.js'

interface Manifest {
  /** `./package.json` is exported as it is. */
  readonly exports: Readonly<Record<string, { readonly '@grantry/source': string } | string>>
}

// Entry points that are not exports.
const more: Readonly<Record<string, readonly string[]>> = { 'packages/server': ['./src/cli.ts'] }

/** Returns the sources in the `exports` of a package, and its other entry points. */
function entriesOf(folder: string): Record<string, string> {
  const manifest: Manifest = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  const sources = [
    ...Object.values(manifest.exports).flatMap((target) =>
      typeof target === 'string' ? [] : [target['@grantry/source']],
    ),
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
  // `clean` would delete the declarations that tsc writes.
  clean: false,
  silent: true,
  // Bundlers of programs that install the packages find no scripts beside their bundle.
  define: {
    grantryVersion: JSON.stringify(version),
    ...consolePagesDefine(),
    ...hashFunctionsDefine(),
    ...templateFilesDefine(),
  },
} as const

/** `grantry.mjs`: the server and all its packages in a single, relocatable file. See decision 0024. */
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
  // An optional dependency of `debug`.
  external: ['supports-color'],
  // CommonJS packages load Node's modules with `require`.
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
  esbuildPlugins: [withLicences],
  esbuildOptions(options) {
    options.conditions = ['@grantry/source']
    // The CommonJS build of jsonc-parser loads its parts by computed names.
    options.mainFields = ['module', 'main']
    // Keep function names for stack traces: no minifyIdentifiers.
    options.minifyWhitespace = true
    options.minifySyntax = true
    options.alias = { jiti: 'jiti/static' }
  },
}

export default defineConfig([
  ...packageFolders.map((folder) => ({
    ...common,
    entry: entriesOf(folder),
    outDir: `${folder}/dist`,
    sourcemap: true,
    external: [/^[^./]/],
  })),
  singleFile,
])
