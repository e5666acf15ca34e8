// Runs a TypeScript program of this repository (a benchmark, a long test) from source: `node scripts/run-program.js
// bench/stores/main.ts [arguments]`.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

// Programs resolve files relative to their sources.
const sourceUrls = {
  name: 'source-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.[jt]s$/ }, async ({ path }) => {
      if (path.includes('/node_modules/')) return undefined
      const text = await readFile(path, 'utf8')
      const url = JSON.stringify(pathToFileURL(path).href)
      const contents = text.replaceAll(/(, |createRequire\()import\.meta\.url\)/gu, `$1${url})`)
      return { contents, loader: 'ts' }
    })
  },
}

const [program, ...options] = process.argv.slice(2)
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
    external: ['esbuild', 'playwright-core', 'vite'],
    conditions: ['@grantry/source'],
    plugins: [sourceUrls],
    // CommonJS dependencies load Node.js modules with `require`; under another name than programs import it.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'error',
  })
  const { status } = spawnSync(process.execPath, ['--expose-gc', outfile, ...options], { stdio: 'inherit' })
  process.exitCode = status ?? 1
} finally {
  rmSync(directory, { recursive: true, force: true })
}
