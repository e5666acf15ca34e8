import { readFileSync } from 'node:fs'
import { defineConfig } from 'tsup'
import { consolePageDefine } from './scripts/console-page.js'

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

export default defineConfig(
  folders.map((folder) => ({
    entry: entriesOf(folder),
    outDir: `${folder}/dist`,
    format: 'esm',
    target: 'es2022',
    sourcemap: true,
    dts: false,
    // `clean` would delete the declarations that tsc has put there.
    clean: false,
    external: [/^[^./]/],
    ...(folder === 'packages/server' && { define: consolePageDefine() }),
    silent: true,
  })),
)
