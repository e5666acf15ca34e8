import type { ClientView, ErrorView, FormView } from '../views.ts'

export type MailPurpose = 'recovery' | 'sign_up' | 'sign_in'

export type AccountProblem =
  | 'address_malformed'
  | 'form_expired'
  | 'too_many_attempts'
  | 'wrong_code'
  | 'name_malformed'
  | 'name_taken'
  | 'password_short'
  | 'password_long'
  | 'password_malformed'
  | 'password_personal'
  | 'password_common'

/** Each page can ask again for the two reasons of all forms, and for its own. */
export interface AccountFormView<Problem extends AccountProblem = AccountProblem> extends FormView {
  readonly client: ClientView
  readonly purpose: MailPurpose
  readonly problem?: Problem | 'form_expired' | 'too_many_attempts' | undefined
  /** Seconds until the next attempt. */
  readonly retryAfter?: number | undefined
  readonly backUrl: string
}

export interface AskAddressView extends AccountFormView<'address_malformed'> {
  readonly address?: string | undefined
}

export interface MailSentView extends AccountFormView<'wrong_code'> {
  readonly address: string
  readonly asksForCode: boolean
  readonly minutes: number
  readonly againUrl: string
}

export interface MailProvedView extends AccountFormView<Exclude<AccountProblem, 'address_malformed' | 'wrong_code'>> {
  readonly name: string
  readonly username?: string | undefined
  readonly asksForName: boolean
  readonly asksForPassword: boolean
  readonly passwordLength: { readonly least: number; readonly most: number }
}

export interface InvitedView extends FormView {
  readonly problem?: Exclude<AccountProblem, 'address_malformed' | 'form_expired' | 'wrong_code'> | undefined
  readonly retryAfter?: number | undefined
  readonly name: string
  readonly username?: string | undefined
  readonly asksForName: boolean
  readonly passwordLength: { readonly least: number; readonly most: number }
}

export type InvitationState = 'ended' | 'account_exists' | 'ready'

export interface InvitationStateView extends Pick<ErrorView, 'home'> {
  readonly state: InvitationState
  readonly signInUrl?: string | undefined
}

export interface MailElsewhereView extends Pick<ErrorView, 'home' | 'restart'> {
  /** Whether the mail has a code. Default: `true`. */
  readonly hasCode?: boolean | undefined
}

export type MailView =
  | {
      readonly kind: MailPurpose
      readonly url?: string | undefined
      readonly code?: string | undefined
      readonly minutes: number
    }
  | { readonly kind: 'invitation'; readonly url: string; readonly until: number }
  | { readonly kind: 'account_exists' }
  /** `url`: the page of the account, if there is one. */
  | { readonly kind: 'password_changed'; readonly url?: string | undefined }

export interface RenderedMail {
  readonly subject: string
  readonly text: string
  readonly html: string
}
