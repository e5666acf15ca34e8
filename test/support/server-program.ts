import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { consolePagesDefine } from '../../scripts/console-pages.js'
import { bundle } from './bundle.ts'
import { linkPackages } from './bundle-with-packages.ts'

/** A separate directory for one run. */
export const newDirectory = (): string => mkdtempSync(join(tmpdir(), 'grantry-test-'))

/**
 * One file of a program that contains the server's command line, and beside it the `package.json` from which the
 * command line reads its version.
 */
export async function serverProgram(entry: URL, directory: string): Promise<string> {
  await linkPackages(directory)
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ version: '0.0.0' }))
  return bundle(entry, { outfile: join(directory, 'bin', 'server.mjs'), define: consolePagesDefine() })
}
