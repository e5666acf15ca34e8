import type { RevocationTarget } from '@grantry/core'
import type { AuditedChange } from '../audit.ts'
import { refused } from '../refusal.ts'

/** The second factors and passkeys of users: `provider.use(secondFactors)` of `@grantry/plugins/sign-in`. */
export interface ResettableFactors {
  /** The kinds of factors that cannot be reset. */
  readonly withoutReset: readonly string[]
  /**
   * Returns the number of removed items of each kind, such as `{ passkeys: 2 }`. A kind that was not counted is absent.
   */
  reset(sub: string): Promise<unknown>
}

/** The factors that a reset has removed, and the sessions that it has ended. */
export interface ResetResult {
  /** The number of removed items of each kind. A kind that was not counted is absent. */
  readonly removed: Partial<Record<RemovedKind, number>>
  /** The number of sessions that have ended. */
  readonly endedSessions: number
}

const kinds = ['apps', 'passkeys', 'recoveryCodes'] as const

export type RemovedKind = (typeof kinds)[number]

/** A function of the host can return anything. */
function countsIn(returned: unknown): ResetResult['removed'] {
  const counts =
    typeof returned === 'object' && returned !== null ? (returned as Readonly<Record<string, unknown>>) : {}
  return Object.fromEntries(kinds.flatMap((kind) => (Number.isInteger(counts[kind]) ? [[kind, counts[kind]]] : [])))
}

const together = (first: ResetResult['removed'], second: ResetResult['removed']): ResetResult['removed'] =>
  Object.fromEntries(
    Object.keys({ ...first, ...second }).map((kind) => {
      const removed = kind as RemovedKind
      return [kind, (first[removed] ?? 0) + (second[removed] ?? 0)]
    }),
  )

/** The maximum number of repetitions, which remove what was added meanwhile. */
const maxRounds = 3

export interface ResetDeps {
  /** Absent if no plugin offers it. */
  readonly secondFactors?: ResettableFactors | undefined
  /** Revokes what was issued to the user, and ends the sessions. Returns their number. */
  readonly revoke: (target: RevocationTarget) => Promise<number>
  readonly audited: <T>(change: AuditedChange, make: () => Promise<T>) => Promise<T>
}

const instead = 'remove those of the user where they are stored, then revoke the user'

/**
 * Removes all second factors and passkeys of a user, and then ends sessions and tokens: the device that has them was
 * lost, or stolen. They also end if a factor fails. The reset can then be repeated, and the trail has the outcome
 * `unknown`. Factors that an ended session has added meanwhile are removed, too.
 *
 * @throws RefusedError `unsupported` if a factor cannot be reset: nothing was removed.
 */
export async function resetSecondFactors(
  subject: string,
  { secondFactors, revoke, audited }: ResetDeps,
): Promise<ResetResult> {
  if (secondFactors === undefined) {
    throw refused('unsupported', `no plugin of this server can reset second factors and passkeys; ${instead}`)
  }
  const [first] = secondFactors.withoutReset
  if (first !== undefined) {
    throw refused(
      'unsupported',
      `${first} of signIn() has no function reset in the configuration; add it, or ${instead}`,
    )
  }
  return audited({ action: 'user_second_factors_reset', id: subject }, async () => {
    let endedSessions = 0
    let removed: ResetResult['removed'] = {}
    for (let round = 1; round <= maxRounds; round += 1) {
      let counts: ResetResult['removed'] | undefined
      const hasRemoved = () => counts === undefined || Object.values(counts).some((count) => count > 0)
      try {
        counts = countsIn(await secondFactors.reset(subject))
      } finally {
        // Revokes afterwards, so that a session that a stolen factor begins meanwhile ends, too. The second round
        // always revokes, because some factors do not count what they remove.
        if (round <= 2 || hasRemoved()) endedSessions += await revoke({ subject })
      }
      removed = together(removed, counts)
      if (round > 1 && !hasRemoved()) break
    }
    return { removed, endedSessions }
  })
}
