import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A program of the tests in a process of its own. */
export interface Program {
  readonly child: ChildProcess
  /** What it prints next. Rejects when it ends instead. */
  line(): Promise<string>
  /** Lets a program that waits in `starting()` go on. */
  go(): void
  /** Resolves when it has ended and all that it printed was read, to the lines that nobody took. */
  rest(): Promise<readonly string[]>
}

export function startProgram(bundled: string, ...args: readonly string[]): Program {
  const child = spawn(process.execPath, [bundled, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  // A program that was killed reads no more.
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

export const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** In a program: tells that it is ready, and waits until all the others are. */
export async function starting(): Promise<void> {
  print('ready')
  await once(process.stdin, 'data')
  process.stdin.destroy()
}

/** Lets programs that are all ready go on at the same moment. */
export async function startTogether(programs: readonly Program[]): Promise<void> {
  await Promise.all(programs.map((program) => program.line()))
  for (const program of programs) program.go()
}
