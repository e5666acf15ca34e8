import { differentTokens } from '../../test/support/same-tokens.ts'
import type { Contenders } from './contenders.ts'
import { type Answers, retried, strict } from './orders.ts'

/** The subject of a race. */
export const raceKinds = ['code', 'refresh outside the window', 'refresh inside the window'] as const
export type RaceKind = (typeof raceKinds)[number]

/** The result of one round. */
export interface Round {
  readonly granted: number
  readonly distinct: number
  readonly refused: Readonly<Record<string, number>>
  /** Whether the access token of the first response works afterwards. */
  readonly works: boolean
  /** Whether its refresh token does. */
  readonly successorWorks: boolean
}

const redirectUri = 'https://web.example.com/callback'

function sumOf(responses: readonly Answers[]): Readonly<Record<string, number>> {
  const sum: Record<string, number> = {}
  for (const { refused } of responses) {
    for (const [refusal, count] of Object.entries(refused)) sum[refusal] = (sum[refusal] ?? 0) + count
  }
  return sum
}

/** So many racers, spread over all contenders, present one credential at the same moment. */
async function runRound(contenders: Contenders, kind: RaceKind, racers: number, round: number): Promise<Round> {
  const as = kind === 'refresh inside the window' ? retried : strict
  const credential: string = await contenders.order(round, {
    what: 'prepare',
    kind: kind === 'code' ? 'code' : 'refresh',
    as,
  })
  const form: Readonly<Record<string, string>> =
    kind === 'code'
      ? { grant_type: 'authorization_code', code: credential, redirect_uri: redirectUri }
      : { grant_type: 'refresh_token', refresh_token: credential }
  const responses = await Promise.all(
    Array.from({ length: contenders.count }, (_, index) =>
      contenders.order<Answers>(index, { what: 'race', form, as, racers: racers / contenders.count }),
    ),
  )
  const granted = responses.flatMap((response) => response.granted)
  const [first = '{}'] = granted
  const tokens: { readonly access_token?: string; readonly refresh_token?: string } = JSON.parse(first)
  // Possibly at another contender than the one that won.
  const works = await contenders.order(round + 1, { what: 'introspect', token: tokens.access_token ?? '-' })
  const next = await contenders.order(round + 2, { what: 'refresh', token: tokens.refresh_token ?? '-', as })
  return {
    granted: granted.length,
    distinct: differentTokens(granted.map((text) => ({ body: JSON.parse(text) }))).length,
    refused: sumOf(responses),
    works: works === true,
    successorWorks: next === 200,
  }
}

/** The faults of a round; empty when it kept the guarantee. */
export function faultsOf(kind: RaceKind, racers: number, round: Round): readonly string[] {
  const inside = kind === 'refresh inside the window'
  const faults: string[] = []
  const expected = inside ? racers : 1
  if (round.granted !== expected) faults.push(`${round.granted} of ${racers} racers succeeded, not ${expected}`)
  if (round.distinct !== 1) faults.push(`${round.distinct} distinct answers`)
  const answered = round.granted + Object.values(round.refused).reduce((sum, count) => sum + count, 0)
  if (answered !== racers) faults.push(`${answered} answers for ${racers} racers`)
  for (const [refusal, count] of Object.entries(round.refused)) {
    if (inside || refusal !== '400 invalid_grant') faults.push(`${count} times ${refusal}`)
  }
  // The losers are replays, so the tokens of the winner are revoked too. Inside the window there is no loser.
  if (round.works !== inside) faults.push(`the access token ${inside ? 'does not work' : 'still works'}`)
  if (round.successorWorks !== inside) faults.push(`the refresh token ${inside ? 'does not work' : 'still works'}`)
  return faults
}

/** Runs the rounds, several concurrently: they share no credential, and each waits most of the time. */
export async function runRounds(
  contenders: Contenders,
  kind: RaceKind,
  { racers, rounds, concurrency }: { readonly racers: number; readonly rounds: number; readonly concurrency: number },
): Promise<readonly Round[]> {
  const results: Round[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < rounds) {
      next += 1
      results.push(await runRound(contenders, kind, racers, next))
    }
  }
  await Promise.all(Array.from({ length: concurrency }, lane))
  return results
}
