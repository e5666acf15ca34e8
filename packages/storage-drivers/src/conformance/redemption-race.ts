import type { Answer } from '@grantry/core/testing'
import type { Bench } from './bench.ts'
import { intercepted } from './intercepted.ts'
import { anyMoment } from './moments.ts'
import type { Proof } from './proof.ts'
import { isRefusal, isSuccess, openRedeemer, type Redeemer, shownAnswer, strict } from './redeemer.ts'

const racers = 50

/** Two providers, as two processes would be, on one driver that is slow in every operation: one that is fast hides races. */
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

/** Of all answers exactly one a success, and the rest refusals. */
function assertOne(bench: Bench, answers: readonly Answer[], what: string): void {
  const successes = answers.filter(isSuccess).length
  if (successes !== 1)
    bench.broken(`of ${racers} redemptions of ${what} exactly 1 should succeed, and ${successes} did`)
  const other = answers.find((answer) => !isSuccess(answer) && !isRefusal(answer))
  if (other !== undefined) {
    bench.broken(
      `who loses the race for ${what} should be answered 400 invalid_grant, and one was ${shownAnswer(other)}`,
    )
  }
}

async function repeatedly(bench: Bench, prove: (pair: readonly [Redeemer, Redeemer]) => Promise<void>): Promise<void> {
  const pair = await slowPair(bench)
  for (let round = 0; round < bench.rounds; round += 1) await prove(pair)
}

export const redemptionRace: readonly Proof[] = [
  {
    name: 'redeems a code once, of 50 at the same time',
    examine: (bench) =>
      repeatedly(bench, async (pair) => {
        const code = await pair[0].code()
        assertOne(bench, await race(pair, (redeemer) => redeemer.redeem(code)), 'one code')
      }),
  },
  {
    name: 'rotates a refresh token once, of 50 at the same time',
    examine: (bench) =>
      repeatedly(bench, async (pair) => {
        const token = await pair[0].refreshToken(strict)
        const answers = await race(pair, (redeemer) => redeemer.refresh(token, strict))
        assertOne(bench, answers, 'one refresh token')
      }),
  },
  {
    name: 'answers 50 equal refreshes inside the retry window with one successor',
    examine: (bench) =>
      repeatedly(bench, async (pair) => {
        const token = await pair[0].refreshToken()
        const answers = await race(pair, (redeemer) => redeemer.refresh(token))
        const other = answers.find((answer) => !isSuccess(answer))
        if (other !== undefined) {
          bench.broken(`each of ${racers} equal refreshes should succeed, and one was answered ${shownAnswer(other)}`)
        }
        const successors = new Set(answers.filter(isSuccess).map(({ body }) => body.refresh_token))
        if (successors.size !== 1) {
          bench.broken(`${racers} equal refreshes should get one successor, and got ${successors.size}`)
        }
      }),
  },
]
