import { deviceGrantType } from '@grantry/plugins/device-authorization'
import type { Credentials } from '@grantry/testing'
import { differentTokens } from '../../test/support/same-tokens.ts'
import type { Contenders } from './contenders.ts'
import { type Answers, type Credential, retried, sharing, strict } from './orders.ts'

const redirectUri = 'https://web.example.com/callback'

/** The subject of a race. */
interface Kind {
  readonly credential: Credential
  /** The client, except for assertions. */
  readonly as: Credentials
  readonly form: (credential: string) => Readonly<Record<string, string>>
  readonly headers?: (credential: string) => Readonly<Record<string, string>>
  readonly winners: 'one' | 'all'
  /** Whether each winner gets a token of its own: nothing is spent. */
  readonly own?: true
  /** The response to the losers. */
  readonly refusal?: string
  /** Whether the tokens of the winner work afterwards. Not if the losers are replays, which revoke them. */
  readonly works: boolean
}

const codeForm = (code: string) => ({ grant_type: 'authorization_code', code, redirect_uri: redirectUri })
const refreshForm = (refresh_token: string) => ({ grant_type: 'refresh_token', refresh_token })
const replayed = { winners: 'one', refusal: '400 invalid_grant', works: false } as const

const workloadForm = (client_id: string) => (client_assertion: string) => ({
  grant_type: 'client_credentials',
  scope: 'api1',
  client_id,
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion,
})

const kinds = {
  code: { credential: 'code', as: strict, form: codeForm, ...replayed },
  'refresh outside the window': { credential: 'refresh', as: strict, form: refreshForm, ...replayed },
  'refresh inside the window': { credential: 'refresh', as: retried, form: refreshForm, winners: 'all', works: true },
  'refresh inside the grace': { credential: 'refresh', as: sharing, form: refreshForm, winners: 'all', works: true },
  'device code': {
    credential: 'device',
    as: strict,
    form: (device_code) => ({ grant_type: deviceGrantType, device_code }),
    winners: 'one',
    // A device may not ask twice within the interval.
    refusal: '400 slow_down',
    works: true,
  },
  'client assertion': {
    credential: 'assertion',
    as: strict,
    form: (client_assertion) => ({
      grant_type: 'client_credentials',
      scope: 'api1',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion,
    }),
    winners: 'one',
    refusal: '401 invalid_client',
    works: true,
  },
  'DPoP proof': {
    credential: 'proof',
    as: strict,
    form: () => ({ grant_type: 'client_credentials', scope: 'api1' }),
    headers: (dpop) => ({ dpop }),
    winners: 'one',
    refusal: '400 invalid_dpop_proof',
    works: true,
  },
  'identity assertion': {
    credential: 'id-jag',
    as: strict,
    form: (assertion) => ({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }),
    winners: 'one',
    refusal: '400 invalid_grant',
    works: true,
  },
  'token of a job': {
    credential: 'job',
    as: strict,
    form: workloadForm('job'),
    winners: 'one',
    refusal: '401 invalid_client',
    works: true,
  },
  'token of a pod': {
    credential: 'pod',
    as: strict,
    form: workloadForm('pod'),
    winners: 'all',
    own: true,
    works: true,
  },
} as const satisfies Readonly<Record<string, Kind>>

export type RaceKind = keyof typeof kinds
export const raceKinds = Object.keys(kinds) as readonly RaceKind[]
const kindOf = (kind: RaceKind): Kind => kinds[kind]

/** Those whose credential is spent. */
export const spendingKinds = raceKinds.filter((kind) => kindOf(kind).own === undefined)

/** They authenticate the client themselves. */
const authenticating: readonly Credential[] = ['assertion', 'job', 'pod']

const withoutRefreshToken: readonly Credential[] = ['assertion', 'proof', 'id-jag', 'job', 'pod']

/** The result of one round. */
export interface Round {
  readonly granted: number
  readonly distinct: number
  readonly refused: Readonly<Record<string, number>>
  /** Whether the access token of the first response works afterwards. */
  readonly works: boolean
  /** Whether its refresh token does; `undefined` if there is none. */
  readonly successorWorks: boolean | undefined
}

function sumOf(responses: readonly Answers[]): Readonly<Record<string, number>> {
  const sum: Record<string, number> = {}
  for (const { refused } of responses) {
    for (const [refusal, count] of Object.entries(refused)) sum[refusal] = (sum[refusal] ?? 0) + count
  }
  return sum
}

/** So many racers, spread over all contenders, present one credential at the same moment. */
async function runRound(contenders: Contenders, kind: RaceKind, racers: number, round: number): Promise<Round> {
  const { credential, as, form: formOf, headers: headersOf } = kindOf(kind)
  const presented = await contenders.order<string>(round, { what: 'prepare', credential, as })
  const [form, headers = {}] = [formOf(presented), headersOf?.(presented)]
  const client = authenticating.includes(credential) ? undefined : as
  const responses = await Promise.all(
    Array.from({ length: contenders.count }, (_, index) =>
      contenders.order<Answers>(index, { what: 'race', form, headers, as: client, racers: racers / contenders.count }),
    ),
  )
  const granted = responses.flatMap((response) => response.granted)
  const [first = '{}'] = granted
  const tokens: { readonly access_token?: string; readonly refresh_token?: string } = JSON.parse(first)
  // Possibly at another contender than the one that won.
  const works = await contenders.order(round + 1, { what: 'introspect', token: tokens.access_token ?? '-' })
  const { refresh_token } = tokens
  const next = refresh_token && (await contenders.order(round + 2, { what: 'refresh', token: refresh_token, as }))
  return {
    granted: granted.length,
    distinct: differentTokens(granted.map((text) => ({ body: JSON.parse(text) }))).length,
    refused: sumOf(responses),
    works: works === true,
    successorWorks: next === undefined ? next : next === 200,
  }
}

/** The faults of a round; empty when it kept the guarantee. */
export function faultsOf(kind: RaceKind, racers: number, round: Round): readonly string[] {
  const { credential, winners, own: ownCredential = false, refusal: expectedRefusal, works } = kindOf(kind)
  const faults: string[] = []
  const expected = winners === 'all' ? racers : 1
  if (round.granted !== expected) faults.push(`${round.granted} of ${racers} racers succeeded, not ${expected}`)
  if (round.distinct !== (ownCredential ? racers : 1)) faults.push(`${round.distinct} distinct answers`)
  const answered = round.granted + Object.values(round.refused).reduce((sum, count) => sum + count, 0)
  if (answered !== racers) faults.push(`${answered} answers for ${racers} racers`)
  for (const [refusal, count] of Object.entries(round.refused)) {
    if (refusal !== expectedRefusal) faults.push(`${count} times ${refusal}`)
  }
  if (round.works !== works) faults.push(`the access token ${works ? 'does not work' : 'still works'}`)
  const successor = withoutRefreshToken.includes(credential) ? undefined : works
  if (round.successorWorks !== successor) faults.push(`the refresh token ${works ? 'does not work' : 'still works'}`)
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
