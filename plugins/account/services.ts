import type { Reply } from '@grantry/core'
import type { InteractionServices, PageClient } from '../authorization-endpoint/authorization-endpoint.ts'
import type { AccountPasskeys, AccountSecondFactors } from '../shared/account-factors.ts'
import type { AccountStore } from '../shared/account-store.ts'
import type { ProviderLinks } from '../shared/linked-providers.ts'
import type { Mailer } from '../shared/mailer.ts'
import type { NewPasswords } from '../shared/new-passwords.ts'
import type { ClientDemands } from './client-demand.ts'
import type { AccountMailView, AccountNotice, AccountPages } from './pages.ts'
import type { ProfileClaim } from './profile-claims.ts'
import type { Visit } from './visit.ts'

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
  /** The claims that users change. */
  readonly profile: readonly ProfileClaim[]
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
  /** Whether a link of the page sends the form, because it leads to another site. */
  readonly byLink?: boolean | undefined
  /** Returns the page with the form; `undefined` if what it would change does not exist. */
  show(visit: Visit, services: AccountServices): Promise<Reply | undefined>
  /** Changes it. The form is permitted and the authentication recent. Returns what the overview reports, or a page. */
  submit(fields: Fields, visit: Visit, services: AccountServices): Promise<AccountNotice | Reply>
}
