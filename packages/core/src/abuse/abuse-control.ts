import { createCredentialLimits } from './credential-limits.ts'
import type { LimitDeps } from './limit-deps.ts'
import type { AbuseControl } from './options.ts'
import { createPasswordLimits } from './password-limits.ts'
import { createAddressOf } from './unknown-address.ts'
import { createValidationLimits } from './validation-limits.ts'

/** Creates all limits on guessing. */
export function createAbuseControl({ passwords, credentials, validation }: AbuseControl, parts: LimitDeps) {
  const deps = { ...parts, addressOf: createAddressOf(parts.recorder) }
  return {
    passwords: createPasswordLimits(passwords, deps),
    clients: createCredentialLimits(credentials, 'client', deps),
    scopes: createCredentialLimits(credentials, 'scope', deps),
    validation: createValidationLimits(validation, deps),
  }
}
