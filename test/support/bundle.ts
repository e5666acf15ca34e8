import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'

// CommonJS dependencies load Node.js modules with `require`.
const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/**
 * Bundles a test program with the sources that it imports into one JavaScript file, for processes that cannot run
 * TypeScript. The file is in a new temporary directory, which is removed with this process.
 *
 * @param more other settings of esbuild, for other runtimes than Node.js
 */
export async function bundle(entry: URL, more: BuildOptions = {}): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'grantry-test-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const outfile = join(directory, 'program.mjs')
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['@grantry/source'],
    banner: { js: banner },
    logLevel: 'error',
    ...more,
  })
  return outfile
}
