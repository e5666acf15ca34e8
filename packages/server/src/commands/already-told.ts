import { CommanderError } from 'commander'

const code = 'grantry.alreadyTold'

/** Ends the program with exit code 1, and prints nothing: the command has printed what is wrong. */
export const alreadyTold = (): CommanderError => new CommanderError(1, code, '')

export const isAlreadyTold = (thrown: unknown): boolean => thrown instanceof CommanderError && thrown.code === code
