/**
 * What must hold, and what a client may conclude from what it saw. Clients and servers run on one machine and share its
 * clock.
 *
 * - `one successor`: however often a refresh token was presented, to any servers, all 200 responses contain the same
 *   tokens. There is no time limit; a response after the client's timeout does not count.
 * - `retry answered`: a client that presents its newest refresh token gets a successor. A rejection is allowed only if an
 *   earlier attempt may have spent the token and its window is over when the rejection arrives. The window counts in
 *   whole seconds from the second in which a server spent the token, and no server can have spent it before it was first
 *   sent: until that second plus the window, a rejection is a violation. A rejection of the very first attempt always is.
 * - `dead stays dead`: after a revocation (200) or a replay (400) is acknowledged, no token of the family works. A request
 *   in flight at that time may still succeed, but its tokens fail in every later request.
 * - `kept`: an issued access token is active until its client revokes it or its family; an issued refresh token works on
 *   servers that started afterwards.
 * - `records whole`: after every server was killed, each record in the store is readable; no server met an unreadable one.
 * - `answers known`: 200; 400 `invalid_grant` if a credential may be revoked; 503 `temporarily_unavailable` with
 *   Retry-After. A server ends only when it is killed.
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
export const abbreviate = (token: string): string => token.slice(0, 8)

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
        return `${abbreviate(presented)} yielded other tokens than before`
      })
    },
  }
}
