/**
 * What must hold, and what a client may conclude from what it saw. All clocks are one clock: clients and servers run on one machine.
 *
 * - `one successor`: however often a refresh token was presented, to whichever servers, all answers with 200 are the same tokens. No time
 *   counts, and an answer that the client had given up on does not exist for it.
 * - `retry answered`: a client that presents its newest refresh token gets its answer. A refusal is allowed only where an earlier attempt may
 *   have spent the token and its window is over when the refusal arrives. The window counts in whole seconds from the second in which a
 *   server spent the token, and none can have spent it before it was first sent: until that second plus the window, a refusal is a violation.
 *   A refusal of the very first attempt always is.
 * - `dead stays dead`: what is sent after the acknowledgement of a revocation (200) or of a replay (400) was there finds nothing that works.
 *   A request that was under way then may still be answered; what it answers is dead to every request that is sent later.
 * - `kept`: an access token that was answered is active until its client revokes it or its family; a refresh token that was answered works on
 *   servers that started afterwards.
 * - `records whole`: with every server dead, each record that is in the store can be read; no server met one that could not.
 * - `answers known`: 200; 400 `invalid_grant` where a credential may be dead; 503 `temporarily_unavailable` with Retry-After. A server
 *   ends only when it is killed.
 */
export const invariants = [
  'one successor',
  'retry answered',
  'dead stays dead',
  'kept',
  'records whole',
  'answers known',
] as const
export type Invariant = (typeof invariants)[number]

/** Counts what happened, so that a run in which nothing happened does not pass. */
export const activities = [
  'kills',
  'failovers',
  'outages',
  'families',
  'refreshes',
  'twins',
  'requests',
  'broken',
  'unreached',
  'overdue',
  'unavailable',
  'retriesAnswered',
  'refusedLate',
  'revocations',
  'accessRevocations',
  'lateReplays',
  'otherReplays',
  'walkedReplays',
  'inspections',
] as const
export type Activity = (typeof activities)[number]

export interface Ledger {
  readonly counts: Readonly<Record<Activity, number>>
  /** How often each invariant was tested. */
  readonly checks: Readonly<Record<Invariant, number>>
  readonly violations: Readonly<Record<Invariant, readonly string[]>>
  count(activity: Activity): void
  check(invariant: Invariant, holds: boolean, otherwise: () => string): void
  /** A refresh token was presented, and exchanged for these tokens. */
  successor(presented: string, tokens: string): void
  /** Milliseconds of the longest time without a successful refresh. */
  readonly longestSilence: number
}

const zeros = <K extends string>(names: readonly K[]): Record<K, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<K, number>

/** A name for a token in a message. */
export const shortly = (token: string): string => token.slice(0, 8)

export function createLedger(): Ledger {
  const counts = zeros(activities)
  const checks = zeros(invariants)
  const violations = Object.fromEntries(invariants.map((name) => [name, [] as string[]])) as Record<Invariant, string[]>
  const successors = new Map<string, string>()
  let lastAnsweredAt = Date.now()
  let longestSilence = 0

  function check(invariant: Invariant, holds: boolean, otherwise: () => string): void {
    checks[invariant] += 1
    if (!holds) violations[invariant].push(`${new Date().toISOString().slice(11, 23)} ${otherwise()}`)
  }

  return {
    counts,
    checks,
    violations,
    check,
    get longestSilence() {
      return longestSilence
    },
    count(activity) {
      counts[activity] += 1
    },
    successor(presented, tokens) {
      longestSilence = Math.max(longestSilence, Date.now() - lastAnsweredAt)
      lastAnsweredAt = Date.now()
      const first = successors.get(presented)
      if (first === undefined) successors.set(presented, tokens)
      check('one successor', first === undefined || first === tokens, () => {
        return `${shortly(presented)} was answered with other tokens than before`
      })
    },
  }
}
