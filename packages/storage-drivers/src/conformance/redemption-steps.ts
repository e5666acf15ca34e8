import type { Answer } from '@grantry/core/testing'
import type { Bench } from './bench.ts'
import { type Breakable, type Breakage, breakable } from './breakable.ts'
import { tooLate, within } from './moments.ts'
import type { Proof } from './proof.ts'
import { isOutage, isRefusal, isSuccess, openRedeemer, type Redeemer, shownAnswer } from './redeemer.ts'

/** A single-use credential. */
interface Redeemable {
  readonly what: 'code' | 'refresh token'
  make(redeemer: Redeemer): Promise<string>
  use(redeemer: Redeemer, credential: string): Promise<Answer>
}

const redeemables: readonly Redeemable[] = [
  { what: 'code', make: ({ code }) => code(), use: ({ redeem }, code) => redeem(code) },
  { what: 'refresh token', make: ({ refreshToken }) => refreshToken(), use: ({ refresh }, token) => refresh(token) },
]

/** More steps than a redemption has: a bound in case the core ever retries by itself. */
const mostSteps = 40

/** Time limit of a request whose storage breaks, in seconds; longer than that of one operation. */
const patience = 10

/** Two providers on one driver, like two processes. The storage of one breaks; that of the other keeps working. */
interface Pair {
  readonly doomed: Redeemer
  readonly heir: Redeemer
  readonly fault: Breakable
}

async function openPair(bench: Bench): Promise<Pair> {
  const { driver } = await bench.open()
  const fault = breakable(driver)
  const heir = await openRedeemer(driver)
  return { heir, fault, doomed: await openRedeemer(fault.storage, heir.clock) }
}

const said: Readonly<Record<Breakage, (step: number) => string>> = {
  dies: (step) => `the process dies after operation ${step}`,
  fails: (step) => `the storage fails from operation ${step + 1} on`,
  forgets: (step) => `operation ${step + 1} is performed but its result is lost`,
}

/** Breaks one redemption after `step` operations and checks the responses to retries. */
async function proveStep(bench: Bench, pair: Pair, redeemable: Redeemable, step: number, how: Breakage): Promise<void> {
  const { doomed, heir, fault } = pair
  const { what, make, use } = redeemable
  const credential = await make(heir)
  fault.breakAfter(step, how)
  const answering = use(doomed, credential)
  const dead = fault.broken.then(() => undefined)
  const answer = await within(how === 'dies' ? Promise.race([answering, dead]) : answering, patience)
  const spent = fault.performed.includes('insertItem spent')
  const trail = fault.performed.join(', ') || 'nothing'
  const retries = how === 'dies' ? [await use(heir, credential), await use(heir, credential)] : []
  await fault.mend(answering)
  // After an outage, the same provider must work again.
  if (how !== 'dies') retries.push(await use(doomed, credential), await use(heir, credential))

  const broken = (expected: string, seen: string): void =>
    bench.broken(`when a ${what} is redeemed and ${said[how](step)} (performed: ${trail}), ${expected}, but ${seen}`)
  if (answer === tooLate) return broken(`there should be a response within ${patience} s`, 'there was none')
  if (how === 'dies' && answer !== undefined) broken('there should be no response', `there was ${shownAnswer(answer)}`)
  if (how !== 'dies' && answer !== undefined && !isOutage(answer)) {
    broken('the response should be 503 temporarily_unavailable with Retry-After', `it was ${shownAnswer(answer)}`)
  }
  const [first, second] = retries as [Answer, Answer]
  const answers = answer === undefined ? retries : [answer, ...retries]
  if (what === 'refresh token') {
    if (!isSuccess(first) || !isSuccess(second)) {
      broken('retries inside the window should succeed', `they were ${shownAnswer(first)}, ${shownAnswer(second)}`)
    }
    const successors = new Set(answers.filter(isSuccess).map(({ body }) => body.refresh_token))
    if (successors.size > 1) broken('there should be one successor', `there were ${successors.size}`)
    for (const successor of successors) {
      const next = await heir.refresh(successor)
      if (!isSuccess(next)) broken('the successor should be valid', `its response was ${shownAnswer(next)}`)
    }
    return
  }
  const successes = answers.filter(isSuccess).length
  if (successes > 1) broken('a code should be redeemed at most once', `it was redeemed ${successes} times`)
  if (spent && isSuccess(first)) broken('a retry should be refused: the marker was set', 'it was 200')
  if (!spent && !isSuccess(first)) broken('a retry should succeed: nothing was spent', `it was ${shownAnswer(first)}`)
  if (!isRefusal(second)) broken('a late replay should be 400 invalid_grant', `it was ${shownAnswer(second)}`)
}

async function proveEach(bench: Bench, redeemable: Redeemable, how: Breakage): Promise<void> {
  const pair = await openPair(bench)
  const credential = await redeemable.make(pair.heir)
  pair.fault.breakAfter(Number.POSITIVE_INFINITY, how)
  const undisturbed = await redeemable.use(pair.doomed, credential)
  if (!isSuccess(undisturbed)) {
    bench.broken(`a new ${redeemable.what} should be redeemed, but the response was ${shownAnswer(undisturbed)}`)
    return
  }
  const steps = Math.min(pair.fault.performed.length, mostSteps)
  for (let step = 0; step < steps; step += 1) await proveStep(bench, pair, redeemable, step, how)
}

const proveSteps = async (bench: Bench, how: Breakage): Promise<void> => {
  await Promise.all(redeemables.map((redeemable) => proveEach(bench, redeemable, how)))
}

export const redemptionSteps: readonly Proof[] = [
  {
    name: 'survives the death of a process between any two steps of a redemption',
    waits: true,
    examine: (bench) => proveSteps(bench, 'dies'),
  },
  {
    name: 'causes a 503 and no second redemption when it fails at any step of a redemption',
    waits: true,
    examine: (bench) => proveSteps(bench, 'fails'),
  },
  {
    name: 'survives a lost result at any step of a redemption',
    waits: true,
    examine: (bench) => proveSteps(bench, 'forgets'),
  },
]
