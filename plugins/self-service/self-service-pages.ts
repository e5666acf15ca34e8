import type { ErrorView, RenderedPage } from '../authorization-endpoint/authorization-endpoint.ts'
import type { PasswordProblem } from '../shared/password-rules.ts'
import type { FormView } from '../sign-in/sign-in.ts'

/** What a mailed link or code is for. */
export type MailPurpose = 'recovery' | 'sign_up' | 'sign_in'

/** Why the name or the password of a user is refused. */
export type NewUserProblem = 'name_malformed' | 'name_taken' | PasswordProblem

/** Why a page asks again. */
export type AccountProblem =
  | 'address_malformed'
  | 'account_changed'
  | 'form_expired'
  | 'too_many_attempts'
  | 'wrong_code'
  | NewUserProblem

/** Each page can ask again for the two reasons of all forms, and for its own. */
interface AccountFormView<Problem extends AccountProblem> extends FormView {
  readonly purpose: MailPurpose
  readonly problem?: Problem | 'form_expired' | 'too_many_attempts' | undefined
  /** Seconds until the next attempt. */
  readonly retryAfter?: number | undefined
  /** Leads back to the page of the sign-in. */
  readonly backUrl: string
}

/** The field `address`. `account_changed`: another change of the account came before the new password of a recovery. */
export interface AskAddressView extends AccountFormView<'address_malformed' | 'account_changed'> {
  /** Fills in the address. */
  readonly address?: string | undefined
}

/** A mail was sent, if the address permits one. The field `code`, unless mails contain no code. */
export interface MailSentView extends AccountFormView<'wrong_code'> {
  readonly address: string
  readonly asksForCode: boolean
  readonly minutes: number
  /** Leads to the page that asks for the address. */
  readonly againUrl: string
}

/** The user has opened the link, or entered the code: the fields `password` and, for a new account, `username`. */
export interface MailProvedView extends AccountFormView<NewUserProblem> {
  /** The name of the account, for password managers. */
  readonly name: string
  /** Fills in the name that the user has chosen. */
  readonly username?: string | undefined
  readonly asksForName: boolean
  readonly asksForPassword: boolean
  /** Characters. */
  readonly passwordLength: { readonly least: number; readonly most: number }
}

/** The user has opened the link of an invitation: the fields `password` and `username`. */
export interface InvitedView
  extends Omit<FormView, 'client'>,
    Pick<MailProvedView, 'name' | 'username' | 'asksForName' | 'passwordLength'> {
  readonly problem?: NewUserProblem | 'too_many_attempts' | undefined
  /** Seconds until the next attempt. */
  readonly retryAfter?: number | undefined
}

/** The state of an invitation that a page without a form shows. */
export type InvitationState = 'ended' | 'account_exists' | 'ready'

export interface InvitationStateView extends Pick<ErrorView, 'home'> {
  readonly state: InvitationState
  /** Leads to the sign-in, where there is a page of the account. */
  readonly signInUrl?: string | undefined
}

/** A mailed link that does not belong to this browser, or no longer counts. */
export interface MailElsewhereView extends Pick<ErrorView, 'home'> {
  /** Whether the mail has a code, which can be entered in the browser that asked for it. */
  readonly hasCode: boolean
}

/** The content of a mail. */
export type MailView =
  | {
      readonly kind: MailPurpose
      readonly url?: string | undefined
      readonly code?: string | undefined
      readonly minutes: number
    }
  /** `until`: epoch seconds. */
  | { readonly kind: 'invitation'; readonly url: string; readonly until: number }
  | { readonly kind: 'account_exists' }
  /** `url`: the page of the account, if there is one. */
  | { readonly kind: 'password_changed'; readonly url?: string | undefined }

/** The subject, and the content in both forms. */
export interface RenderedMail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** The pages and mails of accounts. `createSelfServicePages()` of `@grantry/pages/self-service` has them. Escape every text. */
export interface SelfServicePages {
  /** Chooses a language. @param uiLocales the parameter `ui_locales` */
  localeOf(uiLocales: string | undefined, acceptLanguage: string | null): string
  askAddress(view: AskAddressView, locale: string): RenderedPage
  mailSent(view: MailSentView, locale: string): RenderedPage
  mailProved(view: MailProvedView, locale: string): RenderedPage
  /** A mailed link that does not belong to this browser, or no longer counts. */
  mailElsewhere(view: MailElsewhereView, locale: string): RenderedPage
  invited(view: InvitedView, locale: string): RenderedPage
  /** An invitation that is no longer valid, is not needed, or was accepted. */
  invitationState(view: InvitationStateView, locale: string): RenderedPage
  mail(view: MailView, locale: string): RenderedMail
}
