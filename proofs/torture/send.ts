import type { Credentials } from '@grantry/testing'
import { pause } from '../../test/support/pause.ts'
import type { Random } from '../../test/support/random.ts'
import type { Ledger } from './ledger.ts'
import type { Outcome, Post } from './post.ts'

/** The outcome of a request that was sent until a server responded. */
export interface ReceivedResponse {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  /** Milliseconds since the epoch: before the first attempt was sent, and when the response had arrived. */
  readonly firstSentAt: number
  readonly answeredAt: number
  readonly attempts: number
}

/** Sends the same request to any server, repeatedly, until the response is not "not now". */
export type Send = (path: string, form: Readonly<Record<string, string>>, as: Credentials) => Promise<ReceivedResponse>

/** Milliseconds after which a service without any response is a violation, and the end of the run. */
const longestOutage = 120_000

export function createSend(deps: {
  readonly post: (what: Post) => Promise<Outcome>
  readonly ports: readonly number[]
  readonly ledger: Ledger
  readonly random: Random
}): Send {
  const { post, ports, ledger, random } = deps

  /** `undefined` if the client cannot know the outcome after an attempt. */
  function judge(path: string, outcome: Outcome): (Outcome & { kind: 'response' }) | undefined {
    ledger.count('requests')
    if (outcome.kind !== 'response') {
      ledger.count(outcome.kind)
      return undefined
    }
    const { status, retryAfter, body } = outcome
    if (status === 503) {
      ledger.count('unavailable')
      const isWellFormed = /^\d+$/u.test(retryAfter ?? '') && body?.error === 'temporarily_unavailable'
      ledger.check(
        'answers known',
        isWellFormed,
        () => `${path}: 503 ${JSON.stringify(body)} Retry-After ${retryAfter}`,
      )
      return undefined
    }
    const isKnown = status === 200 || (status === 400 && body?.error === 'invalid_grant')
    ledger.check('answers known', isKnown, () => `${path}: ${status} ${JSON.stringify(body)}`)
    return outcome
  }

  return async (path, form, as) => {
    const firstSentAt = Date.now()
    let mayHaveActed = false
    for (let attempts = 1; Date.now() < firstSentAt + longestOutage; attempts += 1) {
      const outcome = await post({ port: random.pick(ports), path, form, as })
      const answered = judge(path, outcome)
      if (answered !== undefined) {
        if (mayHaveActed && answered.status === 200) ledger.count('retriesAnswered')
        return { ...answered, body: answered.body ?? {}, firstSentAt, answeredAt: Date.now(), attempts }
      }
      if (outcome.kind === 'broken' || outcome.kind === 'overdue') mayHaveActed = true
      await pause(random.between(10, 100))
    }
    ledger.check('answers known', false, () => `${path}: no answer in ${longestOutage / 1000} s`)
    throw new Error(`No server answered ${path} in ${longestOutage / 1000} s`)
  }
}
