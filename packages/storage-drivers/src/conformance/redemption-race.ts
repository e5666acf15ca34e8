import type { Answer } from '@grantry/core/testing'
import type { Bench } from './bench.ts'
import { intercepted } from './intercepted.ts'
import { anyMoment } from './moments.ts'
import type { Proof } from './proof.ts'
import { isRefusal, isSuccess, openRedeemer, type Redeemer, shownAnswer, strict } from './redeemer.ts'

const racers = 50

/** Creates two providers, like two processes, on one driver with slow operations: fast ones hide races. */
async function slowPair(bench: Bench): Promise<readonly [Redeemer, Redeemer]> {
  const { driver } = await bench.open()
  const slow = intercepted(driver, async (act) => {
    await anyMoment()
    const answer = await act()
    await anyMoment()
    return answer
  })
  const one = await openRedeemer(slow)
  return [one, await openRedeemer(slow, one.clock)]
}

const race = (pair: readonly [Redeemer, Redeemer], ask: (redeemer: Redeemer) => Promise<Answer>): Promise<Answer[]> =>
  Promise.all(Array.from({ length: racers }, (_, racer) => ask(pair[racer % 2] as Redeemer)))

/** Checks that exactly one response is a success and the rest are refusals. */
function assertOne(bench: Bench, answers: readonly Answer[], what: string): void {
  const successes = answers.filter(isSuccess).length
  if (successes !== 1)
    bench.broken(`of ${racers} redemptions of ${what}, exactly 1 should succeed, but ${successes} did`)
  const other = answers.find((answer) => !isSuccess(answer) && !isRefusal(answer))
  if (other !== undefined) {
    bench.broken(`the others in a race for ${what} should get 400 invalid_grant, but one got ${shownAnswer(other)}`)
  }
}

async function repeatedly(bench: Bench, prove: (pair: readonly [Redeemer, Redeemer]) => Promise<void>): Promise<void> {
  const pair = await slowPair(bench)
  for (let round = 0; round < bench.rounds; round += 1) await prove(pair)
}

export const redemptionRace: readonly Proof[] = [
  {
    name: 'redeems a code once in 50 concurrent requests',
    examine: (bench) =>
      repeatedly(bench, async (pair) => {
        const code = await pair[0].code()
        assertOne(bench, await race(pair, (redeemer) => redeemer.redeem(code)), 'one code')
      }),
  },
  {
    name: 'rotates a refresh token once in 50 concurrent requests',
    examine: (bench) =>
      repeatedly(bench, async (pair) => {
        const token = await pair[0].refreshToken(strict)
        const answers = await race(pair, (redeemer) => redeemer.refresh(token, strict))
        assertOne(bench, answers, 'one refresh token')
      }),
  },
  {
    name: 'returns one successor for 50 equal refreshes inside the retry window',
    examine: (bench) =>
      repeatedly(bench, async (pair) => {
        const token = await pair[0].refreshToken()
        const answers = await race(pair, (redeemer) => redeemer.refresh(token))
        const other = answers.find((answer) => !isSuccess(answer))
        if (other !== undefined) {
          bench.broken(`each of ${racers} equal refreshes should succeed, but one got ${shownAnswer(other)}`)
        }
        const successors = new Set(answers.filter(isSuccess).map(({ body }) => body.refresh_token))
        if (successors.size !== 1) {
          bench.broken(`${racers} equal refreshes should get one successor, but got ${successors.size}`)
        }
      }),
  },
]
