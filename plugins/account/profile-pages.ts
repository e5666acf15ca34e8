import type { AccountFormPage } from './entries.ts'
import type { ProfileClaim } from './profile-claims.ts'

/** Why a claim is refused. */
export type ProfileProblem = 'text' | 'url' | 'date' | 'zone' | 'language'

/** A claim that the user can change. Its value is text of the user. */
export interface ProfileField {
  readonly claim: ProfileClaim
  /** Empty if the user has not set it. */
  readonly value: string
  readonly problem?: ProfileProblem | undefined
}

/** The page with a field for each claim, which has its name. */
export interface ChangeProfileView extends AccountFormPage {
  readonly fields: readonly ProfileField[]
}

/** The address of the user, and the page that changes it. */
export interface AddressView {
  readonly address?: string | undefined
  readonly isVerified: boolean
  readonly change: string
}

/** Why a page asks again. */
export type AddressProblem = 'address_malformed' | 'address_known' | 'too_many_attempts' | 'wrong_code'

/** The page with the field `address` for a new one. */
export interface ChangeAddressView extends AccountFormPage {
  /** Fills in the address. */
  readonly address: string
  readonly problem?: AddressProblem | undefined
  /** Seconds until the next attempt. */
  readonly retryAfter?: number | undefined
}

/** The page with the field `code` for that of the mail. */
export interface ProveAddressView extends ChangeAddressView {
  /** Minutes for which the code counts. */
  readonly minutes: number
  /** The page that asks for an address. */
  readonly again: string
}

/** The mail with a code, or the one to the owner of an address that another user has tried to use. */
export type AddressMailView =
  | { readonly kind: 'code'; readonly service: string; readonly code: string; readonly minutes: number }
  | { readonly kind: 'taken'; readonly service: string }
