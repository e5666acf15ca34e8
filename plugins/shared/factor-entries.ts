import * as v from 'valibot'
import { portSchema } from './config-schema.ts'
import type { PasskeyCheck } from './passkey-check.ts'
import type { SecondFactor } from './second-factor.ts'

/** The options of a sign-in for what users prove besides a password, or instead of it. */
export const factorEntries = {
  /** Lets users sign in by a passkey, such as `passkeys()`. */
  passkeys: v.optional(portSchema<PasskeyCheck>('passkeys()', { verify: true })),
  /** What users prove besides the password, if they have set it up, such as `totp()`. */
  secondFactors: v.optional(
    v.array(portSchema<SecondFactor>('a second factor such as totp()', { isSetUp: true, verify: true })),
    [],
  ),
}
