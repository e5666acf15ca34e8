import type { ErrorView, RenderedPage } from '../authorization-endpoint/authorization-endpoint.ts'
import type { FunctionNames } from '../shared/config-schema.ts'
import type { PasswordProblem } from '../shared/password-rules.ts'
import type {
  AccountFormPage,
  AccountNotice,
  ApplicationView,
  FactorsView,
  LinkedView,
  PasskeyView,
  SessionView,
} from './entries.ts'

export type {
  AccountForm,
  AccountFormPage,
  AccountNotice,
  ApplicationView,
  FactorsView,
  LinkedView,
  PasskeyView,
  SessionView,
} from './entries.ts'

import type {
  AddressMailView,
  AddressView,
  ChangeAddressView,
  ChangeProfileView,
  ProfileField,
  ProveAddressView,
} from './profile-pages.ts'

export type {
  AddressMailView,
  AddressProblem,
  AddressView,
  ChangeAddressView,
  ChangeProfileView,
  ProfileField,
  ProfileProblem,
  ProveAddressView,
} from './profile-pages.ts'

/**
 * The current passkeys of a user, which a page can report to the browser. Bytes are base64url. @see WebAuthn Level 3
 * section 5.1.10
 */
export interface PasskeySignals {
  readonly rpId: string
  readonly userId: string
  /** How the user is shown to the user. */
  readonly name: string
  readonly displayName: string
  /** All passkeys of the user: the browser removes others. */
  readonly credentialIds: readonly string[]
}

/** The page `/account`. */
export interface OverviewView {
  readonly subjectName: string
  /** The claims that the user can change and has set. Absent if there are none to change. */
  readonly profile?: { readonly fields: readonly ProfileField[]; readonly change: string } | undefined
  /** Absent if users do not change their addresses. */
  readonly email?: AddressView | undefined
  /** The pages with the download of the data, and with the deletion of the account. */
  readonly downloadData?: string | undefined
  readonly deleteAccount?: string | undefined
  readonly sessions: readonly SessionView[]
  /** The page that ends all sessions but this one, if there are others. */
  readonly endOthers?: string | undefined
  readonly applications: readonly ApplicationView[]
  /** The page that changes the password. Absent if there are no accounts. */
  readonly changePassword?: string | undefined
  /** Absent if users cannot add passkeys. */
  readonly passkeys?:
    | { readonly list: readonly PasskeyView[]; readonly add: string; readonly signals?: PasskeySignals | undefined }
    | undefined
  /** Absent if users cannot set up second factors. */
  readonly factors?: FactorsView | undefined
  /** Absent if users cannot link accounts. */
  readonly linked?: LinkedView | undefined
  readonly notice?: AccountNotice | undefined
}

/** The subject of a form that was kept during a sign-in. */
export type KeptForm = 'passkey' | 'passkey_name' | 'app' | 'address' | 'password' | 'profile'

/** A page that asks before it changes something. */
export type ConfirmView = AccountFormPage &
  (
    | { readonly change: 'end_session'; readonly session: SessionView }
    | { readonly change: 'end_other_sessions' }
    | { readonly change: 'remove_app' }
    | { readonly change: 'download_data' }
    | { readonly change: 'delete_account' }
    | { readonly change: 'new_recovery_codes' }
    | { readonly change: 'remove_passkey'; readonly name: string }
    /**
     * A link with the fields replaces the button, because it leads to another provider, to which forms must not be
     * sent.
     */
    | { readonly change: 'link_provider'; readonly provider: string }
    | { readonly change: 'unlink_provider'; readonly provider: string }
    /** The user has filled in the form before another sign-in. */
    | { readonly change: 'kept_form'; readonly of: KeptForm }
    | { readonly change: 'withdraw'; readonly application: Omit<ApplicationView, 'withdraw'> }
  )

/**
 * The page on which a script creates a passkey, with the field `name`. The script fills in the field `credential` with a
 * `PublicKeyCredential` as JSON: `id`, `rawId`, `type`, and of its response `clientDataJSON` and `authenticatorData`.
 */
export interface AddPasskeyView extends AccountFormPage {
  readonly suggestedName: string
  /** For `navigator.credentials.create()`. Bytes are base64url. */
  readonly options: {
    readonly challenge: string
    readonly rp: { readonly id: string; readonly name: string }
    readonly user: { readonly id: string; readonly name: string; readonly displayName: string }
    /** COSE algorithms, the preferred one first. */
    readonly algorithms: readonly number[]
    /** The ids of the credentials that the user has. The browser can remove others of the user. */
    readonly exclude: readonly string[]
    /** Seconds after which the page must be loaded again before a passkey is created. */
    readonly lifetime: number
  }
  readonly problem?: 'passkey_not_valid' | 'passkey_known' | 'passkey_limit' | undefined
}

/** The page that sets up an authenticator app, with the field `code`. */
export interface SetUpAppView extends AccountFormPage {
  /** base32 */
  readonly secret: string
  /** For a QR code. */
  readonly uri: string
  readonly problem?: 'wrong_code' | undefined
}

/** The page with the field `password` for the new password. */
export interface ChangePasswordView extends AccountFormPage {
  /** The name that the user signs in with, for password managers: `subjectName` can be an older one, or one for display. */
  readonly username?: string | undefined
  /** Characters. */
  readonly minLength: number
  readonly maxLength: number
  readonly problem?: PasswordProblem | undefined
}

/** New recovery codes. They are shown once. */
export interface RecoveryCodesView {
  readonly subjectName: string
  readonly codes: readonly string[]
  /** Where the user continues. */
  readonly next: string
}

/** The page with the field `name`. */
export interface RenamePasskeyView extends AccountFormPage {
  readonly name: string
}

/** What a mail reports. */
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
  /** The host of the issuer. */
  readonly service: string
  /** The page of the account. */
  readonly url: string
}

/** The pages of an account. `createAccountPages()` of `@grantry/pages/account` has them. Escape every text. */
export interface AccountPages {
  /** Chooses a language. @param uiLocales the parameter `ui_locales` */
  localeOf(uiLocales: string | undefined, acceptLanguage: string | null): string
  overview(view: OverviewView, locale: string): RenderedPage
  confirm(view: ConfirmView, locale: string): RenderedPage
  addPasskey(view: AddPasskeyView, locale: string): RenderedPage
  setUpApp(view: SetUpAppView, locale: string): RenderedPage
  recoveryCodes(view: RecoveryCodesView, locale: string): RenderedPage
  changeProfile(view: ChangeProfileView, locale: string): RenderedPage
  changeAddress(view: ChangeAddressView, locale: string): RenderedPage
  proveAddress(view: ProveAddressView, locale: string): RenderedPage
  /** A mail to an address that is to be changed. */
  addressMail(
    view: AddressMailView,
    locale: string,
  ): { readonly subject: string; readonly text: string; readonly html: string }
  changePassword(view: ChangePasswordView, locale: string): RenderedPage
  renamePasskey(view: RenamePasskeyView, locale: string): RenderedPage
  /** A mail about a change. */
  mail(
    view: AccountMailView,
    locale: string,
  ): { readonly subject: string; readonly text: string; readonly html: string }
  /** The account is deleted, and the user signed out. @param view `again`: the URL of the sign-in */
  deleted(view: { readonly again: string }, locale: string): RenderedPage
  /**
   * The user has canceled the sign-in, or the browser keeps no cookies.
   *
   * @param view `again`: the URL that begins it again; `hasCookies`: whether the browser has sent a cookie
   */
  signedOut(view: { readonly again: string; readonly hasCookies?: boolean | undefined }, locale: string): RenderedPage
  error(view: ErrorView, locale: string): RenderedPage
}

/** The functions that the pages of a host must have. */
export const accountPageNames: FunctionNames<AccountPages> = {
  localeOf: true,
  overview: true,
  confirm: true,
  addPasskey: true,
  setUpApp: true,
  recoveryCodes: true,
  changeProfile: true,
  changeAddress: true,
  proveAddress: true,
  addressMail: true,
  changePassword: true,
  renamePasskey: true,
  mail: true,
  deleted: true,
  signedOut: true,
  error: true,
}
