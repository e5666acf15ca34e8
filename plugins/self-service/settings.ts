import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { accountStoreSchema } from '../shared/account-store.ts'
import { portSchema, wholeNumber } from '../shared/config-schema.ts'
import { type MailLimits, mailLimitsSchema } from '../shared/mail-limits.ts'
import { mailerSchema } from '../shared/mailer.ts'
import { newPasswordEntries, newPasswordsSchema } from '../shared/new-passwords.ts'
import type { SelfServicePages } from './self-service-pages.ts'

/** The options that are data. */
export const selfServiceEntries = {
  /** Whether users who have forgotten their password can choose another one. Default: `true`. */
  recovery: v.optional(v.boolean('must be true or false'), true),
  /** Who can create an account: `invitation` are users whom administrators invite. Default: `closed`. */
  signUp: v.optional(v.picklist(['open', 'invitation', 'closed'], 'must be open, invitation or closed'), 'closed'),
  /** Seconds for which an invitation can be accepted, from an hour to 30 days. Default: 7 days. */
  invitationLifetime: v.optional(wholeNumber(3600, 2_592_000), 604_800),
  /** Whether users can sign in with a mail, and what it contains. Default: `off`. */
  mail: v.optional(v.picklist(['off', 'link', 'code', 'both'], 'must be off, link, code or both'), 'off'),
  /** What new users sign in with: the address, or a name that they choose. Default: `address`. */
  names: v.optional(v.picklist(['address', 'username'], 'must be address or username'), 'address'),
  /**
   * Mails in an hour. Default: 5 to an address from networks in which its user has signed in, and 5 from all others; 50
   * from one network; 5,000 that are sent in all.
   */
  limits: mailLimitsSchema,
}

export const selfServiceSchema = configurationObject({
  ...selfServiceEntries,
  /** The rules for new passwords. */
  passwords: v.optional(newPasswordsSchema, {}),
  /** The accounts, such as `sqlAccounts()`. */
  store: accountStoreSchema,
  /** Sends the mails, such as `smtpMailer()`. */
  mailer: mailerSchema,
  /** The pages and mails, such as those of `createSelfServicePages()`. */
  pages: portSchema<SelfServicePages>('the pages of createSelfServicePages()', {
    localeOf: true,
    askAddress: true,
    mailSent: true,
    mailProved: true,
    mailElsewhere: true,
    invited: true,
    invitationState: true,
    mail: true,
  }),
})

/** The part of the configuration of passwords that is data. */
export const passwordRulesSchema = configurationObject(newPasswordEntries)

export type SelfServiceSettings = v.InferOutput<typeof selfServiceSchema> & { readonly limits: MailLimits }
