import { until } from '../support/eventually.ts'
import { listeningAddress } from '../support/listening.ts'
import { type ProgramOptions, type RunningProgram, runProgram } from '../support/program.ts'

/** A listening server in a separate process. */
export interface StartedServer extends RunningProgram {
  readonly url: string
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>
}

export interface ServerOptions extends ProgramOptions {
  readonly arguments?: readonly string[]
}

/** Starts `serve` on a free port and waits until it listens. Rejects with its output if it does not. */
export async function startServer(program: readonly string[], options: ServerOptions): Promise<StartedServer> {
  const running = runProgram([...program, 'serve', '--port', '0', ...(options.arguments ?? [])], options)
  let code: number | null | undefined
  void running.ended.then((ended) => {
    code = ended
  })
  await until('the server listens', () => {
    if (code !== undefined) throw new Error(`The server exited with ${code}:\n${running.output().err}`)
    return listeningAddress(running.output().err) !== undefined
  })
  return {
    ...running,
    url: `http://${listeningAddress(running.output().err)}`,
    stop() {
      running.signal('SIGTERM')
      return running.ended
    },
  }
}
