import { createAccountPages } from '@grantry/pages/account'
import { accountPage, accountSchema } from '@grantry/plugins/account'
import type { AuthorizationFeature } from '@grantry/plugins/authorization-endpoint'
import * as v from 'valibot'

/** The members of the entry `sign-in` for the page of the account. */
export const accountEntries = {
  account: v.optional(accountSchema),
}

/** Returns the page of the account, if the entry has it. */
export const accountFeatures = (
  { account }: { readonly account?: v.InferInput<typeof accountSchema> | undefined },
  appearance: Parameters<typeof createAccountPages>[0],
): readonly AuthorizationFeature[] =>
  account === undefined ? [] : [accountPage({ ...account, pages: createAccountPages(appearance) })]
