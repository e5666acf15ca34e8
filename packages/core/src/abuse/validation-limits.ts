import type { Trace } from '../events/recorder.ts'
import type { MaybePromise } from '../types.ts'
import type { AddressOf } from './address-group.ts'
import type { AbuseControl } from './options.ts'
import { createWindowLimit, type LimitDeps } from './window-limit.ts'

/** Limits the validation of tokens. */
export interface ValidationLimits {
  /**
   * Admits a request. Does not access the storage unless all requests are counted.
   *
   * @throws OAuthError `slow_down` (429).
   */
  admit(trace: Trace): MaybePromise<void>
  /**
   * Counts an invalid token.
   *
   * @throws OAuthError `slow_down` (429) if the limit is exceeded; the response then does not reveal that the token is
   * invalid.
   */
  countFailure(trace: Trace): MaybePromise<void>
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
    admit(trace) {
      if (all === undefined && failed.isQuiet) return
      const address = addressOf(trace)
      if (address === undefined) return
      failed.assertBelow(address)
      return all?.count(address, trace)
    },
    countFailure(trace) {
      const address = addressOf(trace)
      return address === undefined ? undefined : failed.count(address, trace)
    },
  }
}
