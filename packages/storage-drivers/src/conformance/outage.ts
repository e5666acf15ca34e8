import type { Answer } from '@grantry/core/testing'
import type { Bench } from './bench.ts'
import { intercepted } from './intercepted.ts'
import { sleep, tooLate, within } from './moments.ts'
import type { Proof } from './proof.ts'
import { isOutage, isRefusal, isSuccess, openRedeemer, type Redeemer, shownAnswer } from './redeemer.ts'

/** Time limit of a storage operation in these proofs, in seconds. */
const timeLimit = 1
/** Seconds within which a request must get a response, whatever the storage does. */
const patience = 5
/** Seconds within which a driver must reconnect to its storage. */
const recovery = 15

async function assertOutage(bench: Bench, asking: Promise<Answer>, when: string): Promise<void> {
  const answer = await within(asking, patience)
  if (answer === tooLate) bench.broken(`${when} there should be a response within ${patience} s, but there was none`)
  else if (!isOutage(answer)) {
    bench.broken(
      `${when} the response should be 503 temporarily_unavailable with Retry-After, but was ${shownAnswer(answer)}`,
    )
  }
}

/** Repeats the request until the storage is available again. */
async function recovered(ask: () => Promise<Answer>): Promise<Answer> {
  const end = performance.now() + recovery * 1000
  for (;;) {
    const answer = await ask()
    if (answer.status !== 503 || performance.now() > end) return answer
    await sleep(100)
  }
}

/** Checks that a code returns tokens at most once and never causes a 500, whatever happened to it before. */
async function assertOnce(bench: Bench, { redeem }: Redeemer, code: string, when: string): Promise<Answer> {
  const first = await recovered(() => redeem(code))
  const second = await redeem(code)
  if (!isSuccess(first) && !isRefusal(first)) {
    bench.broken(
      `${when} a code should be redeemed or refused, but the response was ${shownAnswer(first)} for ${recovery} s`,
    )
  }
  if (!isRefusal(second))
    bench.broken(`${when} a second use of a code should be refused, but the response was ${shownAnswer(second)}`)
  return first
}

async function proveRealOutage(bench: Bench, begin: () => unknown, end: () => unknown): Promise<void> {
  const { driver } = await bench.open()
  let beforeCommit: (() => unknown) | undefined
  const storage = intercepted(driver, async (act, operation, key) => {
    if (operation === 'insertItem' && key.startsWith('spent:')) {
      const happen = beforeCommit
      beforeCommit = undefined
      await happen?.()
    }
    return act()
  })
  const redeemer = await openRedeemer(storage, undefined, timeLimit)
  const [used, unused, atCommit] = [await redeemer.code(), await redeemer.code(), await redeemer.code()]
  const token = await redeemer.refreshToken()
  const first = await redeemer.redeem(used)
  if (!isSuccess(first))
    bench.broken(`before an outage a code should be redeemed, but the response was ${shownAnswer(first)}`)

  await begin()
  try {
    await assertOutage(bench, redeemer.redeem(unused), 'during an outage')
    await assertOutage(bench, redeemer.refresh(token), 'during an outage')
  } finally {
    await end()
  }
  const after = await assertOnce(bench, redeemer, unused, 'after an outage')
  if (!isSuccess(after)) {
    bench.broken(
      `a code that was not redeemed before an outage should be redeemed after it, but the response was ${shownAnswer(after)}`,
    )
  }
  const replay = await redeemer.redeem(used)
  if (!isRefusal(replay)) {
    bench.broken(
      `a code that was redeemed before an outage should be refused after it, but the response was ${shownAnswer(replay)}`,
    )
  }
  const refreshed = await redeemer.refresh(token)
  if (!isSuccess(refreshed)) {
    bench.broken(`after an outage a refresh token should be valid, but the response was ${shownAnswer(refreshed)}`)
  }

  beforeCommit = begin
  try {
    await assertOutage(bench, redeemer.redeem(atCommit), 'when an outage starts during a redemption')
  } finally {
    await end()
  }
  await assertOnce(bench, redeemer, atCommit, 'after an outage during a redemption')
}

export const outageProofs: readonly Proof[] = [
  {
    name: 'causes a 503 within the time limit of the core when it hangs',
    waits: true,
    async examine(bench) {
      const { driver } = await bench.open()
      const waiting: (() => void)[] = []
      let hangs = false
      const storage = intercepted(driver, async (act) => {
        if (hangs) await new Promise<void>((resolve) => waiting.push(resolve))
        return act()
      })
      const redeemer = await openRedeemer(storage, undefined, timeLimit)
      const code = await redeemer.code()
      hangs = true
      await assertOutage(bench, redeemer.redeem(code), 'when the storage hangs')
      hangs = false
      for (const wake of waiting) wake()
      await assertOnce(bench, redeemer, code, 'when the storage works again')
    },
  },
  {
    name: 'recovers from a real outage without a second redemption',
    needs: 'outage',
    async examine(bench) {
      const { outage } = bench.subject
      if (outage === undefined) throw new TypeError('outage must be given')
      for (let round = 0; round < bench.rounds; round += 1) {
        await proveRealOutage(
          bench,
          () => outage.begin(),
          () => outage.end(),
        )
      }
    },
  },
]
