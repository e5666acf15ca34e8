import { CommanderError } from 'commander'

const code = 'grantry.alreadyReported'

/** Creates an error that ends the program with an exit code and prints nothing, because the command already has. */
export const silentFailure = (exitCode = 1): CommanderError => new CommanderError(exitCode, code, '')

/** Returns the exit code of such an error; `undefined` for another one. */
export const silentExitCode = (thrown: unknown): number | undefined =>
  thrown instanceof CommanderError && thrown.code === code ? thrown.exitCode : undefined
