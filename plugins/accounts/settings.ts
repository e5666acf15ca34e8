import { configurationObject, isObject } from '@grantry/core'
import * as v from 'valibot'
import type { AccountStore } from '../shared/account-store.ts'
import { wholeNumber } from '../shared/config-schema.ts'
import { type MailLimits, mailLimitsSchema } from '../shared/mail-limits.ts'
import type { Mailer } from '../shared/mailer.ts'
import { newPasswordEntries, newPasswordsSchema } from '../shared/new-passwords.ts'
import type { AccountsPages } from './pages.ts'

/** The options that are data. */
export const accountsEntries = {
  /** Whether users who have forgotten their password can choose another one. */
  recovery: v.optional(v.boolean('must be true or false'), true),
  /** Who can create an account. */
  signUp: v.optional(v.picklist(['open', 'invitation', 'closed'], 'must be open, invitation or closed'), 'closed'),
  /** Seconds for which an invitation can be accepted. */
  invitationLifetime: v.optional(wholeNumber(3600, 2_592_000), 604_800),
  /** Whether users can sign in with a mail, and what it contains. */
  mail: v.optional(v.picklist(['off', 'link', 'code', 'both'], 'must be off, link, code or both'), 'off'),
  /** What new users sign in with. */
  names: v.optional(v.picklist(['address', 'username'], 'must be address or username'), 'address'),
  /** Mails in an hour. */
  limits: mailLimitsSchema,
}

export const accountsSchema = configurationObject({
  ...accountsEntries,
  passwords: v.optional(newPasswordsSchema, {}),
  store: v.custom<AccountStore>(isObject, 'must be a store of accounts'),
  mailer: v.custom<Mailer>(isObject, 'must be a mailer such as smtpMailer()'),
  pages: v.custom<AccountsPages>(isObject, 'must be the pages of createAccountsPages()'),
  revoke: v.custom<(sub: string) => unknown>((value) => typeof value === 'function', 'must be a function'),
})

/** The part of the configuration of passwords that is data. */
export const passwordRulesSchema = configurationObject(newPasswordEntries)

export type AccountsSettings = v.InferOutput<typeof accountsSchema> & { readonly limits: MailLimits }
