import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { bundle } from '../support/bundle.ts'
import { type Program, startProgram } from './program.ts'

const configurationWith = (flags: readonly string[]): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "program.mjs", esModule = embed "program.mjs")],
  compatibilityDate = "2026-10-01",
  compatibilityFlags = ${JSON.stringify(flags)}
);
`

/**
 * Starts a Worker directly in workerd: miniflare would buffer responses and add stack traces to them.
 *
 * @param flags without `nodejs_compat`, the Worker uses web standards only
 */
export async function startWorker(executable: string, entry: URL, flags: readonly string[] = []): Promise<Program> {
  const script = await bundle(entry, {
    platform: 'neutral',
    target: 'es2022',
    conditions: ['@grantry/source', 'workerd', 'worker', 'import'],
    banner: {},
    ...(flags.length > 0 && { external: ['node:*'] }),
  })
  const file = join(dirname(script), 'config.capnp')
  await writeFile(file, configurationWith(flags))
  return startProgram(executable, ['serve', file, '--control-fd=3'])
}
