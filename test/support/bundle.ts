import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'

// CommonJS among the dependencies asks for Node's modules by `require`.
const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"

/**
 * One JavaScript file of a program of the tests with the sources that it imports, for processes that run no TypeScript. It lies in a new
 * directory for temporary files, which goes with this process.
 *
 * @param more other settings of esbuild, for what is no Node.js
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
