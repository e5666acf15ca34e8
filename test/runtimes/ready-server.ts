import { join } from 'node:path'
import { builtOnce } from '../support/built-once.ts'
import { bundle } from '../support/bundle.ts'

let bundled: Promise<string> | undefined

/** The ready server on the runtime that starts it, bundled once for a run. */
export function readyServerProgram(): Promise<string> {
  bundled ??= builtOnce('ready-server', async (directory) => {
    const outfile = join(directory, 'program.mjs')
    await bundle(new URL('./programs/ready-server.ts', import.meta.url), { outfile })
  }).then((directory) => join(directory, 'program.mjs'))
  return bundled
}
