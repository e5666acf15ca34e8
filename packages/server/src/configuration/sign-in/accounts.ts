import type { AdminHost } from '@grantry/administration/api'
import { configurationObject } from '@grantry/core'
import { createAccountsPages } from '@grantry/pages/accounts'
import { accounts, accountsEntries, type Mailer, passwordRulesSchema } from '@grantry/plugins/accounts'
import type { SignInWays } from '@grantry/plugins/sign-in'
import * as v from 'valibot'
import { storedAccounts } from '../../accounts/stored-accounts.ts'

/** The member `accounts` of the plugin `sign-in`. */
export const accountsMemberSchema = configurationObject({
  ...accountsEntries,
  passwords: v.optional(passwordRulesSchema, {}),
})

/** What accounts need of the server. */
export interface AccountsHost {
  readonly issuer: string
  readonly mailer: Mailer
  readonly adminHost: () => AdminHost
}

/** Creates the accounts of the users in the storage. */
export function createAccounts(
  options: v.InferInput<typeof accountsMemberSchema>,
  appearance: Omit<Parameters<typeof createAccountsPages>[0], 'host'>,
  { issuer, mailer, adminHost }: AccountsHost,
): SignInWays {
  return accounts({
    ...options,
    store: storedAccounts(() => adminHost().administration),
    mailer,
    pages: createAccountsPages({ ...appearance, host: new URL(issuer).host }),
    revoke: (sub) => adminHost().revoke({ subject: sub }),
  })
}
