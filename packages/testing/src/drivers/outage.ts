import type { AtomicDriver } from '@grantry/core'
import type { TestResponse } from '../index.ts'
import { interceptOperations } from './intercept.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { describeResponse, isRefusal, isSuccess, isUnavailable, openRedeemer, type Redeemer } from './redeemer.ts'
import { recoveryTimeout, timedOut, untilRecovered, withTimeout } from './timing.ts'

/** Time limit of a storage operation during an outage, in seconds. */
const timeLimit = 1
/** Seconds within which a request must get a response, whatever the storage does. */
const responseTimeout = 60

/**
 * Two providers on one driver. Only the requests that must get a 503 go to the hasty one: its time limit is shorter than
 * an operation can take on a busy machine, also at its start.
 */
async function openHastyPair(storage: AtomicDriver): Promise<{ readonly patient: Redeemer; readonly hasty: Redeemer }> {
  const patient = await openRedeemer(storage)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { patient, hasty: await openRedeemer(storage, patient.clock, timeLimit) }
    } catch (error) {
      if (attempt === 10) throw error
    }
  }
}

async function assertUnavailable(
  context: ProofContext,
  pendingResponse: Promise<TestResponse>,
  when: string,
): Promise<void> {
  const response = await withTimeout(pendingResponse, responseTimeout)
  if (response === timedOut)
    context.fail(`${when} there should be a response within ${responseTimeout} s, but there was none`)
  else if (!isUnavailable(response)) {
    context.fail(
      `${when} the response should be 503 temporarily_unavailable with Retry-After, but was ${describeResponse(response)}`,
    )
  }
}

/** Repeats the request until the storage is available again. */
const retryUntilAvailable = (ask: () => Promise<TestResponse>): Promise<TestResponse> =>
  untilRecovered(ask, ({ status }) => status !== 503)

/** Checks that a code returns tokens at most once and never causes a 500, whatever happened to it before. */
async function assertRedeemedOnce(
  context: ProofContext,
  { redeem }: Redeemer,
  code: string,
  when: string,
): Promise<TestResponse> {
  const first = await retryUntilAvailable(() => redeem(code))
  // A slow operation on a busy machine is also a 503.
  const second = await retryUntilAvailable(() => redeem(code))
  if (!isSuccess(first) && !isRefusal(first)) {
    context.fail(
      `${when} a code should be redeemed or refused, but the response was ${describeResponse(first)} for ${recoveryTimeout} s`,
    )
  }
  if (!isRefusal(second))
    context.fail(`${when} a second use of a code should be refused, but the response was ${describeResponse(second)}`)
  return first
}

async function proveRealOutage(context: ProofContext, begin: () => unknown, end: () => unknown): Promise<void> {
  const { driver } = await context.open()
  let beforeCommit: (() => unknown) | undefined
  const writes: Promise<unknown>[] = []
  const storage = interceptOperations(driver, async (act, operation, key) => {
    if ((operation === 'insertItem' || operation === 'commit') && key.startsWith('spent:')) {
      const happen = beforeCommit
      beforeCommit = undefined
      await happen?.()
    }
    const acting = act()
    if (!operation.startsWith('get')) writes.push(acting)
    return acting
  })
  const { patient, hasty } = await openHastyPair(storage)
  const [used, unused, atCommit] = [await patient.code(), await patient.code(), await patient.code()]
  const token = await patient.refreshToken()
  const first = await retryUntilAvailable(() => patient.redeem(used))
  if (!isSuccess(first))
    context.fail(`before an outage a code should be redeemed, but the response was ${describeResponse(first)}`)

  await begin()
  try {
    await assertUnavailable(context, hasty.redeem(unused), 'during an outage')
    await assertUnavailable(context, hasty.refresh(token), 'during an outage')
    // A driver that waits for a replica would perform its write after all if the replica came back.
    await withTimeout(Promise.allSettled(writes), context.operationTimeout)
  } finally {
    await end()
  }
  const after = await assertRedeemedOnce(context, patient, unused, 'after an outage')
  if (!isSuccess(after)) {
    context.fail(
      `a code that was not redeemed before an outage should be redeemed after it, but the response was ${describeResponse(after)}`,
    )
  }
  const replay = await retryUntilAvailable(() => patient.redeem(used))
  if (!isRefusal(replay)) {
    context.fail(
      `a code that was redeemed before an outage should be refused after it, but the response was ${describeResponse(replay)}`,
    )
  }
  const refreshed = await retryUntilAvailable(() => patient.refresh(token))
  if (!isSuccess(refreshed)) {
    context.fail(`after an outage a refresh token should be valid, but the response was ${describeResponse(refreshed)}`)
  }

  let begun = false
  beforeCommit = () => {
    begun = true
    return begin()
  }
  try {
    // Again if a slow operation has ended the request before its commit.
    const response = untilRecovered(
      () => hasty.redeem(atCommit),
      () => begun,
    )
    await assertUnavailable(context, response, 'when an outage starts during a redemption')
  } finally {
    beforeCommit = undefined
    if (begun) await end()
  }
  await assertRedeemedOnce(context, patient, atCommit, 'after an outage during a redemption')
}

export const outageProofs: readonly Proof[] = [
  {
    name: 'causes a 503 within the time limit of the core when it hangs',
    waits: true,
    async run(context) {
      const { driver } = await context.open()
      const pending: (() => void)[] = []
      let hangs = false
      const storage = interceptOperations(driver, async (act) => {
        if (hangs) await new Promise<void>((resolve) => pending.push(resolve))
        return act()
      })
      const { patient, hasty } = await openHastyPair(storage)
      const code = await patient.code()
      hangs = true
      await assertUnavailable(context, hasty.redeem(code), 'when the storage hangs')
      hangs = false
      for (const wake of pending) wake()
      await assertRedeemedOnce(context, patient, code, 'when the storage works again')
    },
  },
  {
    name: 'recovers from a real outage without a second redemption',
    needs: 'outage',
    async run(context) {
      const { outage } = context.subject
      if (outage === undefined) throw new TypeError('outage must be given')
      for (let round = 0; round < context.rounds; round += 1) {
        await proveRealOutage(
          context,
          () => outage.begin(),
          () => outage.end(),
        )
      }
    },
  },
]
