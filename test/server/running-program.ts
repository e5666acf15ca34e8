import { runProgram } from '../support/program.ts'
import { root } from './running-command.ts'

/** The result of a command that is not a server. */
export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs `grantry <args>` in a separate process, with this working directory and standard input. */
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
