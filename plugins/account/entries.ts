import type { DeviceName } from './device.ts'

/** A form of the account page. It has one button, and works without scripts. */
export interface AccountForm {
  /** The URL that the form is sent to. */
  readonly action: string
  /** Hidden fields. */
  readonly fields: Readonly<Record<string, string>>
}

/** What a part of the account shows when users add or change something. */
export interface AccountFormPage {
  readonly subjectName: string
  readonly form: AccountForm
  /** The page that it leads back to. */
  readonly back: string
}

/** A browser in which the user is signed in. */
export interface SessionView {
  readonly device: DeviceName
  readonly address?: string | undefined
  /** Seconds since the last use. */
  readonly unused: number
  /** Whether it is the session of this browser. */
  readonly isCurrent: boolean
  /** The page that ends it. */
  readonly end?: string | undefined
}

/** An application that has access to the account. */
export interface ApplicationView {
  readonly clientId: string
  readonly name?: string | undefined
  readonly logoUri?: string | undefined
  /** The scopes that the user has allowed. */
  readonly scopes: readonly string[]
  /** The page that withdraws its access. */
  readonly withdraw: string
}

/** What has just been changed. */
export type AccountNotice =
  | 'session_ended'
  | 'sessions_ended'
  | 'access_withdrawn'
  | 'passkey_added'
  | 'passkey_renamed'
  | 'passkey_removed'
  | 'app_added'
  | 'app_removed'
  | 'recovery_codes_created'
  | 'password_changed'
  | 'profile_changed'
  | 'address_changed'
  | 'address_taken'
  | 'data_downloaded'
  | 'account_deleted'
  | 'deletion_refused'
  | 'provider_linked'
  | 'provider_unlinked'
  | 'link_taken'
  | 'link_full'
  | 'link_failed'
  | 'last_way'
  | 'last_factor'
  | 'gone'
  | 'form_expired'

/** A passkey of the user. Its name is text of the user. */
export interface PasskeyView {
  readonly name: string
  /** Seconds since it was added. */
  readonly added: number
  /** Seconds since the last use. */
  readonly unused?: number | undefined
  /** The pages that change it. */
  readonly rename: string
  readonly remove: string
}

/** The second factors of the user, and the pages that change them. */
export interface FactorsView {
  readonly app: boolean
  /** Whether there are recovery codes that were not used, and how many. */
  readonly codes: boolean
  readonly codesLeft?: number | undefined
  readonly setUp: string
  readonly remove: string
  readonly newCodes: string
}

/** The accounts of the user at other providers. Their names come from the providers. */
export interface LinkedView {
  readonly list: readonly {
    readonly provider: string
    readonly name: string
    /** The page that ends the link. */
    readonly remove: string
  }[]
  /** The pages that link an account, by the names of their providers. */
  readonly add: readonly { readonly provider: string; readonly url: string }[]
}
