import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { bundle } from '../support/bundle.ts'
import { type Program, startProgram } from './program.ts'

// No nodejs_compat flag: the Worker uses web standards only.
const configuration = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .main)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  modules = [(name = "program.mjs", esModule = embed "program.mjs")],
  compatibilityDate = "2026-10-01"
);
`

/** Starts a Worker directly in workerd: miniflare would buffer responses and add stack traces to them. */
export async function startWorker(executable: string, entry: URL): Promise<Program> {
  const script = await bundle(entry, {
    platform: 'neutral',
    target: 'es2022',
    conditions: ['@grantry/source', 'workerd', 'worker', 'import'],
    banner: {},
  })
  const file = join(dirname(script), 'config.capnp')
  await writeFile(file, configuration)
  return startProgram(executable, ['serve', file, '--control-fd=3'])
}
