import type { Json, MaybePromise, Reply } from '@grantry/core'
import type { InteractionServices, PageClient } from '../authorization-endpoint/authorization-endpoint.ts'
import type { AccountPasskeys, AccountSecondFactors } from '../shared/account-factors.ts'
import type { AccountStore } from '../shared/account-store.ts'
import type { ProviderLinks } from '../shared/linked-providers.ts'
import type { MailLimits } from '../shared/mail-limits.ts'
import type { Mailer } from '../shared/mailer.ts'
import type { NewPasswords } from '../shared/new-passwords.ts'
import type { Outgoing } from '../shared/outgoing-mails.ts'
import type { AccountMailView, AccountNotice, AccountPages, KeptForm } from './account-pages.ts'
import type { ClientDemands } from './client-demand.ts'
import type { ProfileClaim } from './profile-claims.ts'
import type { Visit } from './visit.ts'

/** Returns what the host stores of a user, for a download. */
export type DownloadMore = (sub: string) => MaybePromise<Json>

/**
 * Removes the account of a user. Called again until it has resolved once, also for a user who is removed already. `refused`:
 * the account stays.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a function of the host that returns nothing.
export type RemoveUser = (sub: string) => MaybePromise<'removed' | 'refused' | boolean | void>

/** What the sections of the page use. */
export interface AccountServices extends InteractionServices {
  readonly pages: AccountPages
  readonly client: PageClient
  readonly passkeys?: AccountPasskeys | undefined
  readonly secondFactors?: AccountSecondFactors | undefined
  readonly linkedProviders?: ProviderLinks | undefined
  readonly accounts?: AccountStore | undefined
  readonly mailer?: Mailer | undefined
  /** The rules for new passwords. Absent: users do not change them here. */
  readonly passwords?: NewPasswords | undefined
  /** Sends mails that no response waits for. Absent: users do not change their addresses here. */
  readonly outgoing?: Outgoing | undefined
  /** Mails in an hour. */
  readonly mailLimits: MailLimits
  /** The claims that users change. */
  readonly profile: readonly ProfileClaim[]
  /** Whether users download their data, and what the host adds. */
  readonly download: boolean
  readonly downloadMore?: DownloadMore | undefined
  /** Whether users delete their accounts, and the function of the host for it. Default: `remove` of `accounts`. */
  readonly deletion: boolean
  readonly removeUser?: RemoveUser | undefined
  /** Whether users must not remove their last factor. */
  readonly requireSecondFactor: boolean
  /** The values of `acr_values` that demand a factor. */
  readonly secondFactorAcrValues: readonly string[]
  /** The `acr` of a session whose user has proved a factor. */
  readonly secondFactorAcr?: string | undefined
  readonly clientDemands: ClientDemands
  /** Seconds for which an authentication permits changes. */
  readonly maxAge: number
}

/** What a user has changed on the account page. */
export type AccountChange = AccountMailView['change']

/** The fields of all forms. */
export type Fields = Readonly<Record<string, string>>

/** A page that changes something. */
export interface ChangePage {
  /** Seconds for which an authentication permits it, if these are fewer than usual. */
  readonly maxAge?: number | undefined
  /** Whether it needs no recent authentication. */
  readonly isFree?: boolean | undefined
  /**
   * Whether the page asks itself, before its first write, if the session is still valid: it ends the session before
   * other writes.
   */
  readonly asksItself?: boolean | undefined
  /** Whether a link of the page sends the form, because it leads to another site. */
  readonly byLink?: boolean | undefined
  /** The kind of form, if what the user has entered, or a device has created, must be kept during another sign-in. */
  readonly keeps?: KeptForm | undefined
  /** Returns the page with the form; `undefined` if what it would change does not exist. */
  show(visit: Visit, services: AccountServices): Promise<Reply | undefined>
  /** Changes it. The form is permitted and the authentication recent. Returns what the overview reports, or a page. */
  submit(fields: Fields, visit: Visit, services: AccountServices): Promise<AccountNotice | Reply>
}
