import * as v from 'valibot'
import { portSchema } from './config-schema.ts'
import type { PasskeyCheck } from './passkey-check.ts'
import type { SecondFactor } from './second-factor.ts'

/** The options of a sign-in for what users prove besides a password, or instead of it. */
export const factorEntries = {
  passkeys: v.optional(portSchema<PasskeyCheck>('passkeys()', { verify: true })),
  secondFactors: v.optional(
    v.array(portSchema<SecondFactor>('a second factor such as totp()', { isSetUp: true, verify: true })),
    [],
  ),
}
