import type { ReceivedResponse } from '../load/response-reader.ts'
import { codeOf } from '../load/run-slice.ts'
import { exchangeOf, requestOf } from '../operations.ts'
import { ask, askConcurrently } from './ask.ts'
import type { Races } from './figures.ts'
import type { CompanyProcess } from './server.ts'

/** Concurrent redemptions of one credential. */
export const racers = 20

/** Returns how many different tokens the responses contain. */
export const differentTokens = (responses: readonly ReceivedResponse[]): number =>
  new Set(
    responses.flatMap(({ status, body }) =>
      status === 200 ? [(JSON.parse(body) as { readonly access_token?: string }).access_token] : [],
    ),
  ).size

/** Redeems each credential in concurrent requests. */
async function race(port: number, requests: readonly string[]): Promise<readonly number[]> {
  const counts: number[] = []
  for (const request of requests)
    counts.push(differentTokens(await askConcurrently(port, new Array(racers).fill(request))))
  return counts
}

/** @param races how often 20 requests redeem one credential */
export async function measureRaces(process: CompanyProcess, races: number): Promise<Races> {
  const { port, ports = {}, dialect } = process
  const codes: string[] = []
  for (const session of await process.issue('sign-in', races)) {
    const response = await ask(ports['sign-in'] ?? port, requestOf('sign-in', session, dialect))
    const code = codeOf(response.location)
    if (code === undefined) throw new Error(`No code for a session: status ${response.status} ${response.location}`)
    codes.push(exchangeOf(code, dialect))
  }
  const refreshTokens = await process.issue('refresh', races)
  return {
    code: await race(port, codes),
    refresh: await race(
      port,
      refreshTokens.map((token) => requestOf('refresh', token, dialect)),
    ),
  }
}
