import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { pinToCore } from './pin-to-core.ts'

/**
 * Runs a bundle on its own core until it exits.
 *
 * @returns the JSON that it printed, parsed
 * @throws Error with its output when it fails.
 */
export async function runInProgram<Figures>(file: string, core: number): Promise<Figures> {
  const [program = '', ...parameters] = pinToCore(core, [process.execPath, '--expose-gc', file])
  const { stdout } = await promisify(execFile)(program, parameters, { env: { ...process.env, NODE_ENV: 'production' } })
  return JSON.parse(stdout) as Figures
}
