import type { ErrorView, RenderedPage } from '../authorization-endpoint/authorization-endpoint.ts'
import type { DeviceName } from './device.ts'

/** A form of the account page. It has one button, and works without scripts. */
export interface AccountForm {
  /** The URL that the form is sent to. */
  readonly action: string
  /** Hidden fields. */
  readonly fields: Readonly<Record<string, string>>
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
export type AccountNotice = 'session_ended' | 'sessions_ended' | 'access_withdrawn' | 'gone' | 'form_expired'

/** The page `/account`. */
export interface OverviewView {
  readonly subjectName: string
  readonly sessions: readonly SessionView[]
  /** The page that ends all sessions but this one, if there are others. */
  readonly endOthers?: string | undefined
  readonly applications: readonly ApplicationView[]
  readonly notice?: AccountNotice | undefined
}

/** A page that asks before it changes something. */
export type ConfirmView = {
  readonly subjectName: string
  readonly form: AccountForm
  /** The page that it leads back to. */
  readonly back: string
} & (
  | { readonly change: 'end_session'; readonly session: SessionView }
  | { readonly change: 'end_other_sessions' }
  | { readonly change: 'withdraw'; readonly application: Omit<ApplicationView, 'withdraw'> }
)

/** The pages of an account. `createAccountPages()` of `@grantry/pages/account` has them. Escape every text. */
export interface AccountPages {
  /** Chooses a language. @param uiLocales the parameter `ui_locales` */
  localeOf(uiLocales: string | undefined, acceptLanguage: string | null): string
  overview(view: OverviewView, locale: string): RenderedPage
  confirm(view: ConfirmView, locale: string): RenderedPage
  /** The user has canceled the sign-in. @param view `again`: the URL that begins it again */
  signedOut(view: { readonly again: string }, locale: string): RenderedPage
  error(view: ErrorView, locale: string): RenderedPage
}
