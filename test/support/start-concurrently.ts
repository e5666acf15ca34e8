import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A test program in its own process. */
export interface Program {
  readonly child: ChildProcess
  /** Returns the next line that it prints. Rejects when it exits instead. */
  line(): Promise<string>
  /** Releases a program that waits in `starting()`. */
  go(): void
  /** Resolves after it has exited, to the printed lines that were not read yet. */
  rest(): Promise<readonly string[]>
}

export function startProgram(bundled: string, ...args: readonly string[]): Program {
  const child = spawn(process.execPath, [bundled, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  // A killed program no longer reads its input.
  child.stdin.on('error', () => undefined)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    async line() {
      const { done, value } = await lines.next()
      if (done === true) throw new Error(`The program ended early: ${args.join(' ')}`)
      return value
    },
    go: () => child.stdin.end('go\n'),
    async rest() {
      const taken: string[] = []
      for (let next = await lines.next(); next.done !== true; next = await lines.next()) taken.push(next.value)
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      return taken
    },
  }
}

/**
 * In a program: prints a line. Resolves when it is in the pipe, where it outlives its program: a program that is killed and
 * has not waited can lose what it has printed, because a full pipe makes lines wait in the program.
 */
export const print = (line: string): Promise<void> =>
  new Promise((resolve) => process.stdout.write(`${line}\n`, () => resolve()))

/** In a program: prints `ready` and waits until all programs are ready. */
export async function starting(): Promise<void> {
  await print('ready')
  await once(process.stdin, 'data')
  process.stdin.destroy()
}

/** Waits until all programs are ready and releases them at the same moment. */
export async function startConcurrently(programs: readonly Program[]): Promise<void> {
  await Promise.all(programs.map((program) => program.line()))
  for (const program of programs) program.go()
}
