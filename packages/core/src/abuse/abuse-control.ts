import type { Recorder } from '../events/trace.ts'
import type { Store } from '../records/store.ts'
import type { Runtime } from '../runtime.ts'
import { createCredentialLimits } from './credential-limits.ts'
import type { AbuseControl } from './options.ts'
import { createPasswordLimits } from './password-limits.ts'
import { createAddressOf } from './unknown-address.ts'
import { createValidationLimits } from './validation-limits.ts'

/** Every limit on guessing. */
export function createAbuseControl(
  { passwords, credentials, validation }: AbuseControl,
  parts: { readonly issuer: string; readonly store: Store; readonly runtime: Runtime; readonly recorder: Recorder },
) {
  const deps = { ...parts, addressOf: createAddressOf(parts.recorder) }
  return {
    passwords: createPasswordLimits(passwords, deps),
    clients: createCredentialLimits(credentials, 'client', deps),
    scopes: createCredentialLimits(credentials, 'scope', deps),
    validation: createValidationLimits(validation, deps),
  }
}
