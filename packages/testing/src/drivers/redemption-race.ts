import type { TestResponse } from '../index.ts'
import { interceptOperations } from './intercept.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { describeResponse, isRefusal, isSuccess, openRedeemer, type Redeemer, strict } from './redeemer.ts'
import { randomDelay } from './timing.ts'

const concurrency = 50

/** Creates two providers, like two processes, on one driver with slow operations: fast ones hide races. */
async function openSlowPair(context: ProofContext): Promise<readonly [Redeemer, Redeemer]> {
  const { driver } = await context.open()
  const slow = interceptOperations(driver, async (act) => {
    await randomDelay()
    const result = await act()
    await randomDelay()
    return result
  })
  const first = await openRedeemer(slow)
  return [first, await openRedeemer(slow, first.clock)]
}

const race = (
  pair: readonly [Redeemer, Redeemer],
  ask: (redeemer: Redeemer) => Promise<TestResponse>,
): Promise<TestResponse[]> =>
  Promise.all(Array.from({ length: concurrency }, (_, racer) => ask(pair[racer % 2] as Redeemer)))

/** Checks that exactly one response is a success and the rest are refusals. */
function assertOne(context: ProofContext, responses: readonly TestResponse[], what: string): void {
  const successes = responses.filter(isSuccess).length
  if (successes !== 1)
    context.fail(`of ${concurrency} redemptions of ${what}, exactly 1 should succeed, but ${successes} did`)
  const unexpected = responses.find((response) => !isSuccess(response) && !isRefusal(response))
  if (unexpected !== undefined) {
    context.fail(
      `the others in a race for ${what} should get 400 invalid_grant, but one got ${describeResponse(unexpected)}`,
    )
  }
}

async function repeatedly(
  context: ProofContext,
  prove: (pair: readonly [Redeemer, Redeemer]) => Promise<void>,
): Promise<void> {
  const pair = await openSlowPair(context)
  for (let round = 0; round < context.rounds; round += 1) await prove(pair)
}

export const redemptionRace: readonly Proof[] = [
  {
    name: 'redeems a code once in 50 concurrent requests',
    run: (context) =>
      repeatedly(context, async (pair) => {
        const code = await pair[0].code()
        assertOne(context, await race(pair, (redeemer) => redeemer.redeem(code)), 'one code')
      }),
  },
  {
    name: 'rotates a refresh token once in 50 concurrent requests',
    run: (context) =>
      repeatedly(context, async (pair) => {
        const token = await pair[0].refreshToken(strict)
        const responses = await race(pair, (redeemer) => redeemer.refresh(token, strict))
        assertOne(context, responses, 'one refresh token')
      }),
  },
  {
    name: 'returns one successor for 50 equal refreshes inside the retry window',
    run: (context) =>
      repeatedly(context, async (pair) => {
        const token = await pair[0].refreshToken()
        const responses = await race(pair, (redeemer) => redeemer.refresh(token))
        const failed = responses.find((response) => !isSuccess(response))
        if (failed !== undefined) {
          context.fail(`each of ${concurrency} equal refreshes should succeed, but one got ${describeResponse(failed)}`)
        }
        const successors = new Set(responses.filter(isSuccess).map(({ body }) => body.refresh_token))
        if (successors.size !== 1) {
          context.fail(`${concurrency} equal refreshes should get one successor, but got ${successors.size}`)
        }
      }),
  },
]
