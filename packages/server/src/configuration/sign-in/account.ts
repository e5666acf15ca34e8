import { createAccountPages } from '@grantry/pages/account'
import { type AccountPageOptions, accountPage, accountSchema } from '@grantry/plugins/account'
import type { AuthorizationFeature } from '@grantry/plugins/authorization-endpoint'
import { storedSecondFactors, storedSecondFactorsSchema } from '@grantry/plugins/one-time-password'
import { storedPasskeys } from '@grantry/plugins/passkeys'
import * as v from 'valibot'

/** The members of the entry `sign-in` for the page of the account, and for what users set up on it. */
export const accountEntries = {
  account: v.optional(accountSchema),
  passkeys: v.optional(v.boolean('must be true or false')),
  secondFactors: v.optional(storedSecondFactorsSchema),
}

/**
 * Creates what users set up on the page of the account: the sign-in and the page share it.
 *
 * @param ports the accounts of users, their mails and the providers at which they sign in, if the server has them
 */
export function accountParts(
  { account, passkeys: hasPasskeys, secondFactors }: v.InferInput<v.ObjectSchema<typeof accountEntries, undefined>>,
  appearance: Parameters<typeof createAccountPages>[0],
  ports: Pick<AccountPageOptions, 'accounts' | 'passwords' | 'mailer' | 'mailLimits' | 'linkedProviders'> = {},
) {
  const passkeys = hasPasskeys === true ? storedPasskeys() : undefined
  const stored = secondFactors && storedSecondFactors(secondFactors)
  const pages = createAccountPages(appearance)
  const page = { ...account, ...ports, passkeys, secondFactors: stored?.account, pages }
  const features: readonly AuthorizationFeature[] = account === undefined ? [] : [accountPage(page)]
  return { factors: { passkeys, secondFactors: stored?.factors, secondFactorAcr: account?.secondFactorAcr }, features }
}
