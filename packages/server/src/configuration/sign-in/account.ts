import { createAccountPages } from '@grantry/pages/account'
import { accountPage, accountSchema } from '@grantry/plugins/account'
import type { AuthorizationFeature } from '@grantry/plugins/authorization-endpoint'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import * as v from 'valibot'

/** The members of the entry `sign-in` for the page of the account, and for what users set up on it. */
export const accountEntries = {
  account: v.optional(accountSchema),
  passkeys: v.optional(v.boolean('must be true or false')),
}

interface AccountMembers {
  readonly account?: v.InferInput<typeof accountSchema> | undefined
  readonly passkeys?: boolean | undefined
}

/** Creates what users set up on the page of the account: the sign-in and the page share it. */
export function accountParts(
  { account, passkeys }: AccountMembers,
  appearance: Parameters<typeof createAccountPages>[0],
) {
  const factors = { ...(passkeys === true && { passkeys: storedPasskeys() }) }
  const features: readonly AuthorizationFeature[] =
    account === undefined ? [] : [accountPage({ ...account, ...factors, pages: createAccountPages(appearance) })]
  return { factors, features }
}
