import type { AdminHost } from '@grantry/administration/api'
import { configurationObject } from '@grantry/core'
import { createSelfServicePages } from '@grantry/pages/self-service'
import {
  type AccountStore,
  breachedPasswords,
  type Mailer,
  passwordRulesSchema,
  type SelfServiceOptions,
  selfServiceEntries,
} from '@grantry/plugins/self-service'
import * as v from 'valibot'
import { storedAccounts } from '../../accounts/stored-accounts.ts'

/** The member `accounts` of the plugin `sign-in`. */
export const selfServiceMemberSchema = configurationObject({
  ...selfServiceEntries,
  passwords: v.optional(
    configurationObject({
      ...passwordRulesSchema.entries,
      /** Which common passwords are refused: those of a list in this program, those that a service knows, too, or none. */
      common: v.optional(v.picklist(['list', 'service', 'off'], 'must be list, service or off'), 'list'),
    }),
    {},
  ),
})

/** The list is loaded with the first new password. */
const isListed = async (password: string): Promise<boolean> =>
  (await import('@grantry/users/common-passwords')).isCommonPassword(password)

const isBreached = breachedPasswords()

const isCommonBy = {
  list: isListed,
  service: async (password: string) => (await isListed(password)) || isBreached(password),
  off: undefined,
} as const

/** The functions of the server that accounts need. */
export interface SelfServiceHost {
  readonly issuer: string
  readonly mailer: Mailer
  /** The URL of the page with the mails of a development server. */
  readonly outboxUrl?: string | undefined
  /** Default: the users in the storage. */
  readonly store?: AccountStore | undefined
  readonly adminHost: () => AdminHost
}

type SelfServiceMember = v.InferInput<typeof selfServiceMemberSchema>

/** Returns the rules for new passwords, with the function that knows the common ones. */
const newPasswordsOf = ({ passwords: { common = 'list', ...rules } = {} }: SelfServiceMember) => ({
  ...rules,
  isCommon: isCommonBy[common],
})

/** Returns the options of the accounts of users in the storage, or in the table of the host. */
export const selfServiceOf = (
  options: SelfServiceMember,
  appearance: Omit<Parameters<typeof createSelfServicePages>[0], 'host'>,
  { issuer, mailer, store, outboxUrl, adminHost }: SelfServiceHost,
): SelfServiceOptions => ({
  ...options,
  passwords: newPasswordsOf(options),
  store: store ?? storedAccounts(() => adminHost().administration),
  mailer,
  pages: createSelfServicePages({ ...appearance, host: new URL(issuer).host, outboxUrl }),
})
