import { startConcurrently, startProgram } from '../../test/support/start-concurrently.ts'

export interface GuesserOrder {
  readonly url: string
  /** Epoch seconds. */
  readonly now: number
  readonly process: number
  /** For each kind. */
  readonly guesses: number
}

/** The results of the guesses of one kind. */
export interface GuessesReport {
  /** Passwords for which the user service was called. */
  readonly judged: number
  readonly statuses: readonly number[]
}

export interface GuesserReport {
  /** Passwords, all from one address, and each from another. */
  readonly oneAddress: GuessesReport
  readonly manyAddresses: GuessesReport
  /** A password for each of many users, all from one address, and each from another. */
  readonly manyUsers: GuessesReport
  readonly manyUsersAndAddresses: GuessesReport
  /** Secrets of a client, from one address. */
  readonly secret: GuessesReport
}

/** Runs so many processes that all guess concurrently. */
export async function guessTogether(
  program: string,
  processes: number,
  order: Omit<GuesserOrder, 'process'>,
): Promise<readonly GuesserReport[]> {
  const programs = Array.from({ length: processes }, (_, process) =>
    startProgram(program, JSON.stringify({ ...order, process } satisfies GuesserOrder)),
  )
  await startConcurrently(programs)
  const printed = await Promise.all(programs.map((program) => program.rest()))
  return printed.map(([line = '']) => JSON.parse(line) as GuesserReport)
}
