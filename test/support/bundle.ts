import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { hashFunctionsDefine } from '../../scripts/hash-functions.js'
import { sharedDirectory } from './directory.ts'

// CommonJS dependencies load Node.js modules with `require`. Under another name than the server and jiti import it.
const banner =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

/**
 * Bundles a test program with the sources that it imports into one JavaScript file, for processes that cannot run
 * TypeScript. It includes the functions for password hashes, as the server in one file does. Unless `outfile` is set,
 * the file is in a new temporary directory, which is removed after the run.
 *
 * @param more other settings of esbuild, such as those of other runtimes than Node.js
 */
export async function bundle(entry: URL, more: BuildOptions = {}): Promise<string> {
  const { outfile = join(sharedDirectory('test'), 'program.mjs') } = more
  await build({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['@grantry/source'],
    // jsonc-parser's `main` is UMD, which bundlers cannot follow.
    mainFields: ['module', 'main'],
    banner: { js: banner },
    logLevel: 'error',
    ...more,
    define: { ...hashFunctionsDefine(), ...more.define },
    outfile,
  })
  return outfile
}
