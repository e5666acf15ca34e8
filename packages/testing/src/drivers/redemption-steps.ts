import type { TestResponse } from '../index.ts'
import { createFaultyStorage, type Fault, type FaultyStorage } from './faulty-storage.ts'
import type { Proof, ProofContext } from './proof-context.ts'
import { describeResponse, isRefusal, isSuccess, isUnavailable, openRedeemer, type Redeemer } from './redeemer.ts'
import { timedOut, withTimeout } from './timing.ts'

/** A single-use credential. */
interface Redeemable {
  readonly what: 'code' | 'refresh token'
  make(redeemer: Redeemer): Promise<string>
  use(redeemer: Redeemer, credential: string): Promise<TestResponse>
}

const redeemables: readonly Redeemable[] = [
  { what: 'code', make: ({ code }) => code(), use: ({ redeem }, code) => redeem(code) },
  { what: 'refresh token', make: ({ refreshToken }) => refreshToken(), use: ({ refresh }, token) => refresh(token) },
]

/** More steps than a redemption has. */
const maxSteps = 40

/** Time limit of a request whose storage breaks, in seconds; longer than that of one operation. */
const responseTimeout = 60

/** Two providers on one driver, like two processes. Only the storage of one of them breaks. */
interface Pair {
  readonly broken: Redeemer
  readonly healthy: Redeemer
  /** The storage of `broken`. */
  readonly faulty: FaultyStorage
}

async function openPair(context: ProofContext): Promise<Pair> {
  const { driver } = await context.open()
  const faulty = createFaultyStorage(driver)
  const healthy = await openRedeemer(driver)
  return { healthy, faulty, broken: await openRedeemer(faulty.storage, healthy.clock) }
}

const faultDescriptions: Readonly<Record<Fault, (step: number) => string>> = {
  dies: (step) => `the process dies after operation ${step}`,
  fails: (step) => `the storage fails from operation ${step + 1} on`,
  forgets: (step) => `operation ${step + 1} is performed but its result is lost`,
}

type Fail = (expected: string, seen: string) => void

/** Checks the response of the provider whose storage broke. A dead process sends none. */
function checkResponse(response: TestResponse | undefined, fault: Fault, fail: Fail): void {
  if (response === undefined) return
  if (fault === 'dies') fail('there should be no response', `there was ${describeResponse(response)}`)
  else if (!isUnavailable(response))
    fail('the response should be 503 temporarily_unavailable with Retry-After', `it was ${describeResponse(response)}`)
}

function checkCodeRetries(
  responses: readonly TestResponse[],
  [first, second]: readonly [TestResponse, TestResponse],
  isSpent: boolean,
  fail: Fail,
): void {
  const successes = responses.filter(isSuccess).length
  if (successes > 1) fail('a code should be redeemed at most once', `it was redeemed ${successes} times`)
  if (isSpent && isSuccess(first)) fail('a retry should be refused: the marker was set', 'it was 200')
  if (!isSpent && !isSuccess(first))
    fail('a retry should succeed: nothing was spent', `it was ${describeResponse(first)}`)
  if (!isRefusal(second)) fail('a late replay should be 400 invalid_grant', `it was ${describeResponse(second)}`)
}

async function checkRefreshRetries(
  responses: readonly TestResponse[],
  [first, second]: readonly [TestResponse, TestResponse],
  healthy: Redeemer,
  fail: Fail,
): Promise<void> {
  if (!isSuccess(first) || !isSuccess(second)) {
    fail(
      'retries inside the window should succeed',
      `they were ${describeResponse(first)}, ${describeResponse(second)}`,
    )
  }
  const successors = new Set(responses.filter(isSuccess).map(({ body }) => body.refresh_token))
  if (successors.size > 1) fail('there should be one successor', `there were ${successors.size}`)
  for (const successor of successors) {
    const next = await healthy.refresh(successor)
    if (!isSuccess(next)) fail('the successor should be valid', `its response was ${describeResponse(next)}`)
  }
}

/**
 * Breaks one redemption after `step` operations, and checks its response and those of two retries. Resolves to `false`
 * if the redemption succeeded with fewer operations.
 */
async function proveStep(
  context: ProofContext,
  { broken, healthy, faulty }: Pair,
  { what, make, use }: Redeemable,
  step: number,
  fault: Fault,
): Promise<boolean> {
  const credential = await make(healthy)
  faulty.breakAfter(step, fault)
  const request = use(broken, credential)
  const death = faulty.broken.then(() => undefined)
  const response = await withTimeout(fault === 'dies' ? Promise.race([request, death]) : request, responseTimeout)
  if (response !== timedOut && response !== undefined && isSuccess(response) && !faulty.isBroken) {
    await faulty.repair(request)
    return false
  }
  const isSpent = faulty.performed.some((name) => name === 'insertItem spent' || name === 'commit spent')
  const operations = faulty.performed.join(', ') || 'nothing'
  // Another process serves the retries for a dead one. After an outage, the same process must work again.
  const retry = async (first: Redeemer): Promise<[TestResponse, TestResponse]> => [
    await use(first, credential),
    await use(healthy, credential),
  ]
  const retriesElsewhere = fault === 'dies' ? await retry(healthy) : undefined
  await faulty.repair(request)
  const retries = retriesElsewhere ?? (await retry(broken))

  const fail: Fail = (expected, seen) =>
    context.fail(
      `when a ${what} is redeemed and ${faultDescriptions[fault](step)} (performed: ${operations}), ${expected}, but ${seen}`,
    )
  if (response === timedOut) {
    fail(`there should be a response within ${responseTimeout} s`, 'there was none')
    return true
  }
  checkResponse(response, fault, fail)
  const responses = response === undefined ? retries : [response, ...retries]
  if (what === 'code') checkCodeRetries(responses, retries, isSpent, fail)
  else await checkRefreshRetries(responses, retries, healthy, fail)
  return true
}

/** Breaks one redemption after each of its operations, until one succeeds undisturbed. */
async function proveEach(context: ProofContext, redeemable: Redeemable, fault: Fault): Promise<void> {
  const pair = await openPair(context)
  for (let step = 0; step < maxSteps; step += 1) {
    if (await proveStep(context, pair, redeemable, step, fault)) continue
    if (step === 0) context.fail(`a ${redeemable.what} should be redeemed in the storage, but it was not used`)
    return
  }
  context.fail(`a new ${redeemable.what} should be redeemed with fewer than ${maxSteps} operations`)
}

const proveSteps = async (context: ProofContext, fault: Fault): Promise<void> => {
  await Promise.all(redeemables.map((redeemable) => proveEach(context, redeemable, fault)))
}

export const redemptionSteps: readonly Proof[] = [
  {
    name: 'survives the death of a process between any two steps of a redemption',
    waits: true,
    run: (context) => proveSteps(context, 'dies'),
  },
  {
    name: 'causes a 503 and no second redemption when it fails at any step of a redemption',
    waits: true,
    run: (context) => proveSteps(context, 'fails'),
  },
  {
    name: 'survives a lost result at any step of a redemption',
    waits: true,
    run: (context) => proveSteps(context, 'forgets'),
  },
]
