import type { AbuseControl } from './abuse-control.ts'
import { createAddressOf } from './address-group.ts'
import { type CredentialLimits, createCredentialLimits } from './credential-limits.ts'
import { createValidationLimits, type ValidationLimits } from './validation-limits.ts'
import type { LimitDeps } from './window-limit.ts'

/** The limits on guessing and flooding. */
export interface Limits {
  readonly clientLimits: CredentialLimits
  readonly scopeLimits: CredentialLimits
  /** `undefined`: the validation of tokens is not limited. */
  readonly validationLimits: ValidationLimits | undefined
}

/** Opens the limits that the options of a provider enable. */
export function openLimits({ credentials, validation }: AbuseControl, deps: LimitDeps): Limits {
  const byAddress = { ...deps, addressOf: createAddressOf(deps.recorder) }
  return {
    clientLimits: createCredentialLimits(credentials, 'client', byAddress),
    scopeLimits: createCredentialLimits(credentials, 'scope', byAddress),
    validationLimits: createValidationLimits(validation, byAddress),
  }
}
