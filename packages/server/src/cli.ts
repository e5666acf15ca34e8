import { version } from './version.ts'

const ended = 0
const failed = 1

/** Prints the version without the parser of command lines, which takes longer to load than everything else. */
async function runOrPrintVersion(commandLine: readonly string[]): Promise<number> {
  if (commandLine.length === 1 && ['--version', '-V'].includes(commandLine[0] ?? '')) {
    process.stdout.write(`${version}\n`)
    return ended
  }
  const { run } = await import('./commands/program.ts')
  return run(commandLine)
}

/**
 * Runs the `grantry` command line.
 *
 * @returns the exit code: 0 for success, 1 for an error in the configuration or at startup, 2 for wrong usage. `plan`: 1
 * for wrong usage, too, and 2 with `--exit-code` if there are changes
 */
export async function main(commandLine: readonly string[]): Promise<number> {
  let outputFailure: string | undefined
  // Without a listener, a write error ends the process with a stack trace. EPIPE only means that the reader has closed.
  const onError = ({ code }: NodeJS.ErrnoException): void => {
    if (code !== 'EPIPE') outputFailure ??= code
  }
  process.stdout.on('error', onError)
  const code = await runOrPrintVersion(commandLine)
  // A failed write is reported one turn of the event loop later.
  await new Promise((resolve) => setImmediate(resolve))
  process.stdout.off('error', onError)
  // `serve` has done its work even if its banner could not be written.
  if (outputFailure === undefined || commandLine[0] === 'serve') return code
  process.stderr.write(`grantry: cannot write to standard output (${outputFailure})\n`)
  return failed
}
