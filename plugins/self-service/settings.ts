import { configurationObject } from '@grantry/core'
import * as v from 'valibot'
import { accountStoreSchema } from '../shared/account-store.ts'
import { portSchema, wholeNumber } from '../shared/config-schema.ts'
import { type MailLimits, mailLimitsSchema } from '../shared/mail-limits.ts'
import { mailerSchema } from '../shared/mailer.ts'
import { newPasswordEntries, newPasswordsSchema } from '../shared/new-passwords.ts'
import type { SelfServicePages } from './pages.ts'

/** The options that are data. */
export const selfServiceEntries = {
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

export const selfServiceSchema = configurationObject({
  ...selfServiceEntries,
  passwords: v.optional(newPasswordsSchema, {}),
  store: accountStoreSchema,
  mailer: mailerSchema,
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
  revoke: v.custom<(sub: string) => unknown>((value) => typeof value === 'function', 'must be a function'),
})

/** The part of the configuration of passwords that is data. */
export const passwordRulesSchema = configurationObject(newPasswordEntries)

export type SelfServiceSettings = v.InferOutput<typeof selfServiceSchema> & { readonly limits: MailLimits }
