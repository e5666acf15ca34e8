import type { ErrorView, RenderedPage } from '../authorization-endpoint/authorization-endpoint.ts'
import type { DescribedClient } from '../shared/described-client.ts'

/** An application, as its configuration describes it to users. */
export interface ClientView {
  readonly clientId: string
  readonly name?: string | undefined
  readonly uri?: string | undefined
  /** The colour of buttons, as `#rrggbb`. */
  readonly color?: string | undefined
  readonly logoUri?: string | undefined
  readonly policyUri?: string | undefined
  readonly tosUri?: string | undefined
}

/** The content of all pages with a form. */
export interface FormView {
  /** The URL that the form is sent to. */
  readonly action: string
  /** Hidden fields. */
  readonly fields: Readonly<Record<string, string>>
  readonly client: ClientView
  /** The additional sources of `form-action`. */
  readonly formTargets: readonly string[]
  /** Whether the response opens an application of the device (RFC 8252 section 7.1), and leaves the page as it is. */
  readonly opensApplication?: boolean | undefined
}

/** Why the page asks again. */
export type SignInProblem =
  | 'wrong_credentials'
  | 'too_many_attempts'
  | 'form_expired'
  | 'unavailable'
  | 'unknown_passkey'
  | 'provider_refused'
  | 'provider_failed'
  | 'provider_not_recent'
  | 'provider_not_active'
  | 'provider_unavailable'
  | 'unknown_organization'

/** A link of the page that leads to another way to sign in. */
export interface SignInWay {
  /** A provider; a mailed link or code; a link below the form for a user without an account, or without the password. */
  readonly kind: 'provider' | 'mail' | 'sign_up' | 'recovery'
  /** The name of the provider, as users know it; empty for other kinds, which have texts of their own. */
  readonly name: string
  readonly url: string
  /** The name of its icon: `google`, `microsoft`, `apple`, `github`, `gitlab` or `keycloak`. Default: by the name. */
  readonly icon?: string | undefined
}

/**
 * The fields `username` and `password`, the checkbox `stay_signed_in`, and the button `decision` with the value `cancel`.
 */
export interface SignInView extends FormView {
  /** Fills in the user name. It comes from the request. */
  readonly username?: string | undefined
  readonly problem?: SignInProblem | undefined
  /** The provider that a problem beginning with `provider_` is about, as users know it. */
  readonly provider?: string | undefined
  /** Seconds until the next attempt. */
  readonly retryAfter?: number | undefined
  readonly canCancel: boolean
  /**
   * With it, a script can fill in the field `credential` with the response of a passkey, and send the form. `unknown` is the
   * id of a passkey that no longer exists, for `PublicKeyCredential.signalUnknownCredential()`.
   */
  readonly passkey?:
    | { readonly challenge: string; readonly rpId: string; readonly unknown?: string | undefined }
    | undefined
  /** Whether the checkbox is ticked. Without it, there is none. */
  readonly staySignedIn?: boolean | undefined
  /** Links to other ways to sign in. */
  readonly ways: readonly SignInWay[]
  /** Whether there is a form for the password. */
  readonly asksForPassword: boolean
  /**
   * Whether a mail address in the field `username` can lead to the provider of its domain: also without a password, by the
   * button `decision` with the value `organization`.
   */
  readonly asksForOrganization?: boolean | undefined
}

/** The field `code`, and the button `decision` with the value `cancel`. */
export interface SecondFactorView extends FormView {
  readonly subjectName: string
  readonly problem?: 'wrong_code' | 'too_many_attempts' | undefined
  /** Seconds until the next attempt. */
  readonly retryAfter?: number | undefined
}

/** The buttons `decision` with the values `allow`, `deny`, and `switch` for another account. Only `allow` allows. */
export interface ConsentView extends FormView {
  readonly subjectName: string
  readonly scopes: readonly {
    readonly name: string
    /** The checkbox, with the value `yes`, without which the application does not get the scope. */
    readonly choice?: { readonly field: string; readonly isTicked: boolean } | undefined
  }[]
  /** The APIs that the access is for, with those of the scopes that can be used there. */
  readonly resources: readonly { readonly audience: string; readonly scopes: readonly string[] }[]
  /** Why the page asks again: the user has chosen no scope. */
  readonly problem?: 'nothing_chosen' | undefined
  /** The claims that the request asks for individually. */
  readonly claims: readonly string[]
  /** The origin of a self-described application, and the place that gets the access. */
  readonly described?: DescribedClient | undefined
}

/** The buttons `account`, with the id of an account or `other`, and `decision` with the value `deny`. */
export interface ChooseAccountView extends FormView {
  readonly accounts: readonly { readonly id: string; readonly name: string }[]
}

/** The pages of a sign-in. `createPages()` of `@grantry/pages` has them. Escape every text. */
export interface SignInPages {
  /** Chooses a language. @param uiLocales the parameter `ui_locales` */
  localeOf(uiLocales: string | undefined, acceptLanguage: string | null): string
  signIn(view: SignInView, locale: string): RenderedPage
  secondFactor(view: SecondFactorView, locale: string): RenderedPage
  consent(view: ConsentView, locale: string): RenderedPage
  chooseAccount(view: ChooseAccountView, locale: string): RenderedPage
  error(view: ErrorView, locale: string): RenderedPage
}
