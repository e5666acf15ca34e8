import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { sharedDirectory } from './directory.ts'

// CommonJS dependencies load Node.js modules with `require`.
const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/**
 * Bundles a test program with the sources that it imports into one JavaScript file, for processes that cannot run
 * TypeScript. The file is in a new temporary directory, which is removed after the run.
 *
 * @param more other settings of esbuild, for other runtimes than Node.js
 */
export async function bundle(entry: URL, more: BuildOptions = {}): Promise<string> {
  const outfile = join(sharedDirectory('test'), 'program.mjs')
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
