import { startProgram, startTogether } from '../storage/programs/filesystem-process.ts'

export interface GuesserOrder {
  readonly url: string
  readonly prefix: string
  /** Epoch seconds. */
  readonly now: number
  readonly process: number
  readonly guesses: number
  readonly grant: 'password' | 'client_credentials'
  /** Whether each guess comes from an address of its own. */
  readonly spread: boolean
}

export interface GuesserReport {
  /** Passwords that the user service was asked about. */
  readonly judged: number
  readonly statuses: readonly number[]
}

/** So many processes guess all at once. @returns what came of it, together */
export async function guessTogether(
  program: string,
  processes: number,
  order: Omit<GuesserOrder, 'process'>,
): Promise<{ readonly judged: number; count(status: number): number }> {
  const programs = Array.from({ length: processes }, (_, process) =>
    startProgram(program, JSON.stringify({ ...order, process } satisfies GuesserOrder)),
  )
  await startTogether(programs)
  const reports = (await Promise.all(programs.map((one) => one.rest()))).map(
    ([line = '']) => JSON.parse(line) as GuesserReport,
  )
  const statuses = reports.flatMap((report) => report.statuses)
  return {
    judged: reports.reduce((sum, { judged }) => sum + judged, 0),
    count: (wanted) => statuses.filter((status) => status === wanted).length,
  }
}
