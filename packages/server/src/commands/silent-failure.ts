import { CommanderError } from 'commander'

const code = 'grantry.alreadyReported'

/** Creates an error that ends the program with exit code 1 and prints nothing, because the command already has. */
export const silentFailure = (): CommanderError => new CommanderError(1, code, '')

export const isSilentFailure = (thrown: unknown): boolean => thrown instanceof CommanderError && thrown.code === code
