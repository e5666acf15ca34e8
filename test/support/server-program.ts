import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { consolePageDefine } from '../../scripts/console-page.js'

/** A separate directory for one run. */
export const newDirectory = (): string => mkdtempSync(join(tmpdir(), 'grantry-test-'))

// CommonJS dependencies load Node.js modules with `require`. Under another name than the command line itself imports
// it.
const banner =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);"

/**
 * One file of a program that contains the server's command line, and beside it the `package.json` from which the
 * command line reads its version.
 */
export async function serverProgram(entry: URL, directory: string): Promise<string> {
  const outfile = join(directory, 'bin', 'server.mjs')
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    conditions: ['@grantry/source'],
    // jsonc-parser's `main` is UMD, which bundlers cannot follow.
    mainFields: ['module', 'main'],
    define: consolePageDefine(),
    banner: { js: banner },
    logLevel: 'error',
  })
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ version: '0.0.0' }))
  return outfile
}
