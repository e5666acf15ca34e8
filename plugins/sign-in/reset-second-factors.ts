import { defineHostFunctions, type EndpointKit, hostKey, type PluginPart } from '@grantry/core'
import type { PasskeyCheck } from '../shared/passkey-check.ts'
import type { SecondFactor } from '../shared/second-factor.ts'

/** The number of removed items of each kind. A kind is absent if a function of the host removes it without counting. */
export interface RemovedFactors {
  readonly apps?: number | undefined
  readonly recoveryCodes?: number | undefined
  readonly passkeys?: number | undefined
}

/** The second factors and passkeys of users, for host code: a user has lost a device. */
export interface SecondFactors {
  /** The factors that have no `reset`, such as `secondFactors[1]` or `passkeys`. With one, `reset` refuses. */
  readonly withoutReset: readonly string[]
  /**
   * Removes all second factors and passkeys of a user. Sessions and tokens stay valid: revoke them afterwards. If one
   * factor fails, the others are removed, and the call can be repeated. Returns the number of removed items, as far as
   * the factors count them.
   *
   * @throws TypeError if one of them has no `reset`: nothing was removed.
   * @throws OAuthError `temporarily_unavailable` that names those that failed
   */
  reset(sub: string): Promise<RemovedFactors | undefined>
}

/**
 * The key of the second factors of users.
 *
 * @example
 * await provider.use(secondFactors).reset('alice')
 * await provider.revoke({ subject: 'alice' })
 */
export const secondFactors = hostKey<SecondFactors>(
  'second-factors',
  'signIn() with secondFactors or passkeys, in authorizationEndpoint(),',
)

interface Factors {
  readonly secondFactors: readonly SecondFactor[]
  readonly passkeys?: PasskeyCheck | undefined
}

const kinds = ['apps', 'recoveryCodes', 'passkeys'] as const

/** Adds up what the factors have returned. */
const removedIn = (returned: readonly unknown[]): RemovedFactors =>
  Object.fromEntries(
    kinds.flatMap((kind) => {
      const counts = returned.map((removed) => (removed as RemovedFactors | null | undefined)?.[kind])
      const known = counts.filter((count) => typeof count === 'number')
      return known.length === 0 ? [] : [[kind, known.reduce((sum, count) => sum + count, 0)]]
    }),
  )

/** A factor that can be reset, with the name of its option. */
type Named = readonly [name: string, factor: Pick<SecondFactor, 'reset' | 'limitsHostCalls'>]

/** A function of the host is called with its limits. */
const resetOne = async (factor: Named[1], sub: string, kit: EndpointKit): Promise<unknown> =>
  factor.limitsHostCalls === true
    ? factor.reset?.(sub, kit)
    : kit.callHost('secondFactors.reset', () => factor.reset?.(sub, kit))

function createSecondFactors(named: readonly Named[], kit: EndpointKit): SecondFactors {
  const withoutReset = named.flatMap(([name, { reset }]) => (reset === undefined ? [name] : []))
  return {
    withoutReset,
    async reset(sub) {
      if (withoutReset.length > 0) throw new TypeError(`signIn(): ${withoutReset.join(', ')} has no function reset`)
      const ended = await Promise.allSettled(named.map(([, factor]) => resetOne(factor, sub, kit)))
      const failed = ended.flatMap((end, index) => (end.status === 'rejected' ? [[named[index]?.[0], end.reason]] : []))
      if (failed.length === 0)
        return removedIn(ended.map((end) => (end.status === 'fulfilled' ? end.value : undefined)))
      const names = failed.map(([name]) => name).join(', ')
      const message = `Not all second factors were reset (${names} failed), repeat the reset`
      const reasons = failed.map(([name, reason]) => `${name}: ${reason instanceof Error ? reason.message : 'failed'}`)
      const cause = new AggregateError(
        failed.map(([, reason]) => reason),
        `not all second factors were reset, repeat the reset (${reasons.join('; ')})`,
      )
      throw kit.refuse('temporarily_unavailable', message, 'second_factors_left', { cause, retryAfter: 1 })
    },
  }
}

/** Returns the part with which the host resets factors, if there are any. */
export function resetParts({ secondFactors: factors, passkeys }: Factors): readonly PluginPart[] {
  const named: readonly Named[] = [
    ...factors.map((factor, index) => [`secondFactors[${index}]`, factor] as const),
    ...(passkeys === undefined ? [] : ([['passkeys', passkeys]] as const)),
  ]
  if (named.length === 0) return []
  return [defineHostFunctions(secondFactors, (kit) => createSecondFactors(named, kit))]
}
