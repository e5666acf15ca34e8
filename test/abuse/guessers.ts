import { startProgram, startTogether } from '../storage/programs/filesystem-process.ts'

export interface GuesserOrder {
  readonly url: string
  /** Epoch seconds. */
  readonly now: number
  readonly process: number
  /** Of each kind. */
  readonly guesses: number
}

/** What came of the guesses of one kind. */
export interface GuessesReport {
  /** Passwords that the user service was asked about. */
  readonly judged: number
  readonly statuses: readonly number[]
}

export interface GuesserReport {
  /** Passwords, all from one address, and each from another. */
  readonly oneAddress: GuessesReport
  readonly manyAddresses: GuessesReport
  /** A password of each of many users, all from one address, and each from another. */
  readonly manyUsers: GuessesReport
  readonly manyUsersAndAddresses: GuessesReport
  /** Secrets of a client, from one address. */
  readonly secret: GuessesReport
}

/** So many processes guess all at once. */
export async function guessTogether(
  program: string,
  processes: number,
  order: Omit<GuesserOrder, 'process'>,
): Promise<readonly GuesserReport[]> {
  const programs = Array.from({ length: processes }, (_, process) =>
    startProgram(program, JSON.stringify({ ...order, process } satisfies GuesserOrder)),
  )
  await startTogether(programs)
  const printed = await Promise.all(programs.map((one) => one.rest()))
  return printed.map(([line = '']) => JSON.parse(line) as GuesserReport)
}
