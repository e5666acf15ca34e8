import { accountSchema } from '@grantry/plugins/account'
import { storedSecondFactorsSchema } from '@grantry/plugins/one-time-password'
import * as v from 'valibot'

/** The members of the entry `sign-in` for the page of the account, and for what users set up on it. */
export const accountEntries = {
  account: v.optional(accountSchema),
  passkeys: v.optional(v.boolean('must be true or false')),
  secondFactors: v.optional(storedSecondFactorsSchema),
}
