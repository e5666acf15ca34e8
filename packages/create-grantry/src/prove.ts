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

/** A project that hangs at its start or its end is ended after so many milliseconds. */
const limit = 60_000

/**
 * Starts the project at a free port, reads its discovery document, and stops it.
 *
 * @param command the program and its parameters. Not a command of npm, which would not pass the signal on
 * @throws TypeError with the output of the program if it does not start.
 */
export async function startOnce(directory: string, command: string): Promise<void> {
  const [program = '', ...parameters] = command.split(' ')
  const child = spawn(program, parameters, { cwd: directory, env: { ...process.env, PORT: '0' } })
  const deadline = setTimeout(() => child.kill('SIGKILL'), limit)
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
  try {
    const address = await Promise.race([listening, ended])
    if (address === undefined) throw new TypeError(`the project does not start:\n${output}`)
    const { status } = await fetch(`http://${address}/.well-known/openid-configuration`)
    if (status !== 200) {
      throw new TypeError(`the discovery document of the project has the status ${status}:\n${output}`)
    }
  } finally {
    child.kill('SIGTERM')
    await ended
    clearTimeout(deadline)
  }
}
