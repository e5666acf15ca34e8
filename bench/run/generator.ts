import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Slice, SliceFigures } from '../load/run-slice.ts'

/** The load generator process. */
export interface Generator {
  /** @throws Error when a connection failed. */
  run(slice: Slice): Promise<SliceFigures>
  stop(): void
}

export function startGenerator(command: readonly string[]): Generator {
  const [program = '', ...parameters] = command
  const child = spawn(program, parameters, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async run(slice) {
      child.stdin.write(`${JSON.stringify(slice)}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error('The load generator exited')
      const { figures, error } = JSON.parse(value) as { figures: SliceFigures; error?: string }
      if (error !== undefined) throw new Error(error)
      return figures
    },
    stop: () => child.kill('SIGKILL'),
  }
}
