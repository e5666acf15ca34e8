import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { sharedDirectory } from './directory.ts'

/** Like `bundle`, for a program that is given as text and imports as if it were in that directory. */
export async function bundleText(contents: string, directory: URL): Promise<string> {
  const outfile = join(sharedDirectory('test'), 'program.mjs')
  await build({
    stdin: { contents, resolveDir: fileURLToPath(directory), loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['@grantry/source'],
    // CommonJS dependencies load Node.js modules with `require`.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  })
  return outfile
}
