// Runs a TypeScript program of this repository (a benchmark, a long test) from source: `node scripts/run-program.js
// bench/stores/main.ts [arguments]`.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'

const [program, ...given] = process.argv.slice(2)
// Below node_modules, so that external packages resolve.
const cache = new URL('../node_modules/.cache/', import.meta.url).pathname
mkdirSync(cache, { recursive: true })
const directory = mkdtempSync(join(cache, 'grantry-'))
try {
  const outfile = join(directory, 'program.mjs')
  await build({
    entryPoints: [resolve(program)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    external: ['esbuild'],
    conditions: ['@grantry/source'],
    // Programs resolve files relative to their source.
    define: { 'import.meta.url': 'sourceUrl' },
    banner: {
      js: `import { createRequire } from 'node:module'; import { pathToFileURL } from 'node:url'; const sourceUrl = pathToFileURL(${JSON.stringify(resolve(program))}).href; const require = createRequire(sourceUrl);`,
    },
    logLevel: 'error',
  })
  const { status } = spawnSync(process.execPath, ['--expose-gc', outfile, ...given], { stdio: 'inherit' })
  process.exitCode = status ?? 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
