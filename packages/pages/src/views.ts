/** An application, as its configuration describes it to users. */
export interface ClientView {
  readonly clientId: string
  readonly name?: string | undefined
  readonly uri?: string | undefined
  /** The colour of buttons, as `#rrggbb`. Default: that of all pages. */
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
  /** The additional sources of `form-action`. */
  readonly formTargets: readonly string[]
}

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

/** A link that leads to another way to sign in. */
export interface SignInWay {
  readonly kind: 'provider' | 'mail' | 'sign_up' | 'recovery'
  /** The name of the provider, as users know it. */
  readonly name: string
  readonly url: string
  /** The name of its icon: `google`, `microsoft`, `apple`, `github`, `gitlab` or `keycloak`. Default: by the name. */
  readonly icon?: string | undefined
}

export interface SignInView extends FormView {
  readonly client: ClientView
  /** Fills in the user name. It comes from the request. */
  readonly username?: string | undefined
  readonly problem?: SignInProblem | undefined
  /** The provider that a problem beginning with `provider_` is about, as users know it. */
  readonly provider?: string | undefined
  /** Seconds until the next attempt. */
  readonly retryAfter?: number | undefined
  readonly canCancel: boolean
  /** Bytes are base64url. `unknown` is the id of a passkey that no longer exists: the browser can remove it. */
  readonly passkey?:
    | { readonly challenge: string; readonly rpId: string; readonly unknown?: string | undefined }
    | undefined
  /** Whether the checkbox for it is ticked. Without it, there is none. */
  readonly staySignedIn?: boolean | undefined
  /** Links to other ways to sign in. */
  readonly ways?: readonly SignInWay[] | undefined
  /** Whether there is a form for the password. Default: `true`. */
  readonly asksForPassword?: boolean | undefined
  /** Whether the domain of a mail address in the field `username` leads to a provider. */
  readonly asksForOrganization?: boolean | undefined
}

export interface SecondFactorView extends FormView {
  readonly client: ClientView
  readonly subjectName: string
  readonly problem?: 'wrong_code' | 'too_many_attempts' | undefined
  /** Seconds until the next attempt. */
  readonly retryAfter?: number | undefined
}

export interface ConsentView extends FormView {
  readonly client: ClientView
  readonly subjectName: string
  readonly scopes: readonly {
    readonly name: string
    /** The checkbox, with the value `yes`, without which the application does not get the scope. */
    readonly choice?: { readonly field: string; readonly isTicked: boolean } | undefined
  }[]
  /** The APIs that the access is for, with those of the scopes that can be used there. */
  readonly resources?: readonly { readonly audience: string; readonly scopes: readonly string[] }[] | undefined
  /** Why the page asks again: the user has chosen no scope. */
  readonly problem?: 'nothing_chosen' | undefined
  /** The claims that the request asks for individually. */
  readonly claims: readonly string[]
  /** Where an application that has described itself comes from, and what gets the access. */
  readonly described?:
    | {
        /** The host of its metadata document, if it has one. */
        readonly host?: string | undefined
        /** The host of the home page that it names. */
        readonly homePage?: string | undefined
        /** The host that the user returns to; absent if it is a program on the device. */
        readonly returnsTo?: string | undefined
        /** Whether the operator knows the host. */
        readonly isKnown: boolean
      }
    | undefined
}

export interface ChooseAccountView extends FormView {
  readonly client: ClientView
  readonly accounts: readonly { readonly id: string; readonly name: string }[]
}

export interface ErrorView {
  /** The error code. */
  readonly code: string
  /** The reason of the refusal, as in the log. */
  readonly reason: string
  /** The id of the request in the log, for support. Absent if there are no events. */
  readonly requestId?: string | undefined
  /** Begins the request again. */
  readonly restart?: string | undefined
  /** A link back to the application. */
  readonly returnTo?: { readonly name: string; readonly url: string } | undefined
  /** The page at the host of the provider: a way on if there is no other one. */
  readonly home?: string | undefined
}

export interface FormPostView extends FormView {
  /** Whether the form waits for its button, instead of sending itself. Default: `false`. */
  readonly waits?: boolean | undefined
}

export interface ConfirmLogoutView extends FormView {
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

export type DeviceProblem = 'code_unknown' | 'too_many_guesses' | 'form_expired'

/** The states of the page of `deviceAuthorization()`. */
export type DeviceCodeView =
  | {
      readonly step: 'signed_out'
      /** The URL of the page. Default: the one that the browser shows. */
      readonly again?: string | undefined
    }
  | { readonly step: 'enter_code'; readonly problem?: DeviceProblem | undefined }
  | {
      readonly step: 'confirm'
      readonly userCode: string
      readonly client: ClientView
      /** How the user is shown to the user, such as the user name. */
      readonly subjectName?: string | undefined
      readonly scopes: readonly string[]
      /** Those of the scopes that the user can leave out: the form has the field `chosen` and checkboxes. */
      readonly choosable?: readonly string[] | undefined
      /** Those that the user has left out, if the page asks again. */
      readonly leftOut?: readonly string[] | undefined
      /** Why the page asks again: the user has chosen no scope. */
      readonly problem?: 'nothing_chosen' | undefined
      /** The APIs that the access is for, with those of the scopes that can be used there. */
      readonly resources?: ConsentView['resources']
      /** A link to sign in with another account. */
      readonly otherAccount?: string | undefined
      readonly formToken: string
    }
  | { readonly step: 'approved' | 'denied' }
