import type { ClientView } from '../views.ts'

// The types of `@grantry/plugins/account` with the members that the templates use.

export interface SessionView {
  readonly device: { readonly browser?: string | undefined; readonly system?: string | undefined }
  readonly address?: string | undefined
  /** Seconds since the last use. */
  readonly unused: number
  readonly isCurrent: boolean
  readonly end?: string | undefined
}

export interface ApplicationView extends Pick<ClientView, 'clientId' | 'name' | 'logoUri'> {
  readonly scopes: readonly string[]
}

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

/** What a browser can learn of the passkeys of a user. Bytes are base64url. @see WebAuthn Level 3 section 5.1.10 */
export interface PasskeySignals {
  readonly rpId: string
  readonly userId: string
  /** How the user is shown to the user. */
  readonly name: string
  /** All there are: the browser removes others of this user. */
  readonly credentialIds: readonly string[]
}

export interface PasskeyView {
  readonly name: string
  readonly added: number
  readonly unused?: number | undefined
  readonly rename: string
  readonly remove: string
}

/** A page with a form. */
export interface FormPageView {
  readonly subjectName: string
  readonly form: { readonly action: string; readonly fields: Readonly<Record<string, string>> }
  readonly back: string
}

export interface AddPasskeyView extends FormPageView {
  readonly suggestedName: string
  readonly options: object
  readonly problem?: 'passkey_not_valid' | 'passkey_known' | 'passkey_limit' | undefined
}

export interface SignedOutView {
  readonly again: string
  /** Whether the browser has sent a cookie. Default: `true`. */
  readonly hasCookies?: boolean | undefined
}

export interface SetUpAppView extends FormPageView {
  readonly secret: string
  readonly uri: string
  readonly problem?: 'wrong_code' | undefined
}

export interface ChangePasswordView extends FormPageView {
  /** The name that the user signs in with, for password managers. */
  readonly username?: string | undefined
  readonly minLength: number
  readonly maxLength: number
  readonly problem?:
    | 'password_short'
    | 'password_long'
    | 'password_malformed'
    | 'password_personal'
    | 'password_common'
    | undefined
}

export interface ProfileField {
  readonly claim:
    | 'name'
    | 'given_name'
    | 'family_name'
    | 'middle_name'
    | 'nickname'
    | 'profile'
    | 'picture'
    | 'website'
    | 'gender'
    | 'birthdate'
    | 'zoneinfo'
    | 'locale'
  readonly value: string
  readonly problem?: 'text' | 'url' | 'date' | 'zone' | 'language' | undefined
}

export interface ChangeProfileView extends FormPageView {
  readonly fields: readonly ProfileField[]
}

export interface ChangeAddressView extends FormPageView {
  readonly address: string
  readonly problem?: 'address_malformed' | 'address_known' | 'too_many_attempts' | 'wrong_code' | undefined
}

export interface ProveAddressView extends ChangeAddressView {
  readonly minutes: number
  readonly again: string
}

export type AddressMailView =
  | { readonly kind: 'code'; readonly service: string; readonly code: string; readonly minutes: number }
  | { readonly kind: 'taken'; readonly service: string }

export interface RecoveryCodesView {
  readonly subjectName: string
  readonly codes: readonly string[]
  readonly next: string
}

export interface AccountMailView {
  readonly change: Exclude<
    AccountNotice,
    | 'gone'
    | 'form_expired'
    | 'address_taken'
    | 'deletion_refused'
    | 'last_factor'
    | 'last_way'
    | 'link_taken'
    | 'link_full'
    | 'link_failed'
  >
  readonly service: string
  readonly url: string
}

export interface OverviewView {
  readonly subjectName: string
  readonly profile?: { readonly fields: readonly ProfileField[]; readonly change: string } | undefined
  readonly email?:
    | { readonly address?: string | undefined; readonly isVerified: boolean; readonly change: string }
    | undefined
  readonly downloadData?: string | undefined
  readonly deleteAccount?: string | undefined
  readonly sessions: readonly SessionView[]
  readonly endOthers?: string | undefined
  readonly applications: readonly (ApplicationView & { readonly withdraw: string })[]
  readonly changePassword?: string | undefined
  readonly passkeys?:
    | { readonly list: readonly PasskeyView[]; readonly add: string; readonly signals?: PasskeySignals | undefined }
    | undefined
  readonly factors?:
    | {
        readonly app: boolean
        readonly codes: boolean
        readonly codesLeft?: number | undefined
        readonly setUp: string
        readonly remove: string
        readonly newCodes: string
      }
    | undefined
  readonly linked?:
    | {
        readonly list: readonly { readonly provider: string; readonly name: string; readonly remove: string }[]
        readonly add: readonly { readonly provider: string; readonly url: string }[]
      }
    | undefined
  readonly notice?: AccountNotice | undefined
}

/** What a form changes that was kept during a sign-in. */
export type KeptForm = 'passkey' | 'passkey_name' | 'app' | 'address' | 'password' | 'profile'

export type ConfirmView = FormPageView &
  (
    | { readonly change: 'end_session'; readonly session: SessionView }
    | { readonly change: 'end_other_sessions' }
    | { readonly change: 'remove_app' | 'new_recovery_codes' | 'download_data' | 'delete_account' }
    | { readonly change: 'remove_passkey'; readonly name: string }
    | { readonly change: 'link_provider' | 'unlink_provider'; readonly provider: string }
    | { readonly change: 'kept_form'; readonly of: KeptForm }
    | { readonly change: 'withdraw'; readonly application: ApplicationView }
  )
