import { runProgram } from '../support/program.ts'
import { root } from './running-command.ts'

/** How a command ended that is not a server. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs `grantry <args>` in a process of its own, in this directory, with this on standard input. */
export async function run(
  args: readonly string[],
  cwd: string,
  {
    input = '',
    script = [`${root}/scripts/start.js`],
    env = {},
  }: { input?: string; script?: readonly string[]; env?: Record<string, string> } = {},
): Promise<Ended> {
  const program = runProgram([process.execPath, ...script, ...args], { cwd, environment: env, input })
  return { code: await program.ended, ...program.output() }
}
