import type { ErrorView, RenderedPage } from '../authorization-endpoint/authorization-endpoint.ts'

/** The buttons `decision` with the values `logout` and `stay`. */
export interface ConfirmLogoutView {
  /** The URL that the form is sent to. */
  readonly action: string
  /** Hidden fields. */
  readonly fields: Readonly<Record<string, string>>
  /** The additional sources of `form-action`. */
  readonly formTargets: readonly string[]
  /** How the user is shown to the user; `undefined` if it is not known yet who is signed in. */
  readonly subjectName?: string | undefined
}

/** The end of a logout, or of a declined one. */
export interface LogoutEndView {
  readonly clientName?: string | undefined
  /** A link back to the application. */
  readonly returnTo?: string | undefined
  /** The page at the host of the provider: a way on if there is no application. */
  readonly home?: string | undefined
}

/** The pages of a logout. `createPages()` of `@grantry/pages` has them. Escape every text. */
export interface LogoutPages {
  /** Chooses a language. @param uiLocales the parameter `ui_locales` */
  localeOf(uiLocales: string | undefined, acceptLanguage: string | null): string
  confirmLogout(view: ConfirmLogoutView, locale: string): RenderedPage
  signedOut(view: LogoutEndView, locale: string): RenderedPage
  /** Shown to a user who does not want to sign out. */
  stillSignedIn(view: LogoutEndView, locale: string): RenderedPage
  error(view: ErrorView, locale: string): RenderedPage
}
