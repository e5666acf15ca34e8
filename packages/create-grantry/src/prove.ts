import { spawn, spawnSync } from 'node:child_process'

const windows = process.platform === 'win32'

/** @throws TypeError with the output of the command if it fails, or with the reason why it does not start. */
function run(directory: string, program: string, parameters: readonly string[], shell: boolean): string {
  const { status, stdout, stderr, error } = spawnSync(program, parameters, { cwd: directory, encoding: 'utf8', shell })
  if (status === 0) return stdout
  const reason = error?.message ?? `${stdout}${stderr}`
  throw new TypeError(`${[program, ...parameters].join(' ')} failed in ${directory}:\n${reason}`)
}

/** Runs a command of npm in the project. @throws TypeError with its output if it fails. */
export function npm(directory: string, ...parameters: readonly string[]): void {
  run(directory, 'npm', parameters, windows)
}

/** Runs a command that completes the project, and prints what it prints. @throws TypeError if it fails. */
export function setUp(directory: string, command: string, output: NodeJS.WritableStream): void {
  const [program = '', ...parameters] = command.split(' ')
  output.write(run(directory, program, parameters, false))
}

/** Milliseconds until a project that hangs at its start is ended, and one that hangs at its end is killed. */
const limits = { start: 180_000, end: 10_000 }

/** Starts the project at a free port. `stop()` also ends what holds the output of a program that has ended. */
function launch(directory: string, command: string, { end }: typeof limits) {
  const [program = '', ...parameters] = command.split(' ')
  const child = spawn(program, parameters, { cwd: directory, env: { ...process.env, PORT: '0' } })
  let output = ''
  const ended = new Promise<undefined>((resolve) => {
    child.once('error', (error) => {
      output += error.message
      resolve(undefined)
    })
    child.once('close', () => resolve(undefined))
  })
  const listening = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += chunk
        const [, address] = /(?:listening on|Local:) +(?:http:\/\/)?([\w.:[\]-]+)/iu.exec(output) ?? []
        if (address !== undefined) resolve(address)
      })
    }
  })
  let killing: NodeJS.Timeout | undefined
  function stop(): void {
    child.kill('SIGTERM')
    killing ??= setTimeout(() => {
      child.kill('SIGKILL')
      // The server of Next.js is a process of the one that was started.
      for (const stream of [child.stdout, child.stderr]) stream.destroy()
    }, end)
    void ended.then(() => clearTimeout(killing))
  }
  return { ended, listening, stop, output: () => output }
}

/**
 * Starts the project at a free port, reads its discovery document, and stops it.
 *
 * @param command the program and its parameters. Not a command of npm, which would not pass the signal on
 * @throws TypeError with the output of the program if it does not start.
 */
export async function startOnce(directory: string, command: string, most = limits): Promise<void> {
  const { ended, listening, stop, output } = launch(directory, command, most)
  const deadline = setTimeout(stop, most.start)
  try {
    const address = await Promise.race([listening, ended])
    if (address === undefined) throw new TypeError(`the project does not start:\n${output()}`)
    const response = await fetch(`http://${address}/.well-known/openid-configuration`).catch(() => undefined)
    if (response?.status !== 200) {
      const problem = response === undefined ? 'is not sent' : `has the status ${response.status}`
      throw new TypeError(`the discovery document of the project ${problem}:\n${output()}`)
    }
  } finally {
    stop()
    await ended
    clearTimeout(deadline)
  }
}
