import type { Trace } from '../events/recorder.ts'
import type { AbuseControl } from './abuse-control.ts'
import type { AddressOf } from './address-group.ts'
import { createWindowLimit, type LimitDeps } from './window-limit.ts'

/** Limits the validation of tokens. */
export interface ValidationLimits {
  /**
   * Admits a request. Does not access the storage unless all requests are counted.
   *
   * @throws OAuthError `slow_down` (429).
   */
  admit(trace: Trace): Promise<void>
  /**
   * Counts an invalid token.
   *
   * @throws OAuthError `slow_down` (429) if the limit is exceeded; the response then does not reveal that the token is
   * invalid.
   */
  countFailure(trace: Trace): Promise<void>
}

export function createValidationLimits(
  limits: AbuseControl['validation'],
  deps: LimitDeps & { readonly addressOf: AddressOf },
): ValidationLimits | undefined {
  if (limits === false) return undefined
  const { addressOf } = deps
  const { failures, window, requests } = limits
  const failed = createWindowLimit({ failures, window }, { limit: 'validation.failures', ...deps })
  const all =
    requests === undefined
      ? undefined
      : createWindowLimit({ failures: requests, window }, { limit: 'validation.requests', ...deps })
  return {
    async admit(trace) {
      if (all === undefined && failed.isQuiet) return
      const address = addressOf(trace)
      if (address === undefined) return
      failed.assertBelow(address)
      await all?.count(address, trace)
    },
    async countFailure(trace) {
      const address = addressOf(trace)
      if (address !== undefined) await failed.count(address, trace)
    },
  }
}
