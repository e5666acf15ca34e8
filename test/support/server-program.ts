import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { consolePagesDefine } from '../../scripts/console-pages.js'
import { bundle } from './bundle.ts'
import { linkPackages } from './bundle-with-packages.ts'
import { sharedDirectory } from './directory.ts'

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

let real: Promise<string> | undefined

/** The real server, bundled once for all files of a process. Every user of the machine can start it. */
export function realServerProgram(): Promise<string> {
  if (real === undefined) {
    const directory = sharedDirectory('server-program')
    chmodSync(directory, 0o755)
    real = serverProgram(new URL('./programs/server.ts', import.meta.url), directory)
  }
  return real
}
