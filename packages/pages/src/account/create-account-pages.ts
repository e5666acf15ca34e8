import { html } from '../html.ts'
import { type PagesOptions, settingsOf } from '../options.ts'
import { createPageSet } from '../page-set.ts'
import { error } from '../templates/error.ts'
import type { Page, Rendered } from '../tools.ts'
import type { ErrorView } from '../views.ts'
import { addressMail, changeAddress, proveAddress } from './address.ts'
import { confirm } from './confirm.ts'
import { mail } from './mail.ts'
import { overview } from './overview.ts'
import { addPasskey, renamePasskey } from './passkeys.ts'
import { changePassword } from './password.ts'
import { changeProfile } from './profile.ts'
import { recoveryCodes, setUpApp } from './second-factors.ts'
import { type AccountTools, accountTools } from './tools.ts'
import type {
  AccountMailView,
  AddPasskeyView,
  AddressMailView,
  ChangeAddressView,
  ChangePasswordView,
  ChangeProfileView,
  ConfirmView,
  FormPageView,
  OverviewView,
  ProveAddressView,
  RecoveryCodesView,
  SetUpAppView,
  SignedOutView,
} from './views.ts'

/** The pages of an account, ready for `accountPage()`. */
export interface AccountPageSet {
  localeOf(uiLocales: string | undefined, acceptLanguage: string | null): string
  overview(view: OverviewView, locale: string): Rendered
  confirm(view: ConfirmView, locale: string): Rendered
  addPasskey(view: AddPasskeyView, locale: string): Rendered
  setUpApp(view: SetUpAppView, locale: string): Rendered
  recoveryCodes(view: RecoveryCodesView, locale: string): Rendered
  changeProfile(view: ChangeProfileView, locale: string): Rendered
  changeAddress(view: ChangeAddressView, locale: string): Rendered
  proveAddress(view: ProveAddressView, locale: string): Rendered
  addressMail(
    view: AddressMailView,
    locale: string,
  ): { readonly subject: string; readonly text: string; readonly html: string }
  changePassword(view: ChangePasswordView, locale: string): Rendered
  renamePasskey(view: FormPageView & { readonly name: string }, locale: string): Rendered
  mail(
    view: AccountMailView,
    locale: string,
  ): { readonly subject: string; readonly text: string; readonly html: string }
  deleted(view: { readonly again: string }, locale: string): Rendered
  signedOut(view: SignedOutView, locale: string): Rendered
  error(view: ErrorView, locale: string): Rendered
}

type PageName = Exclude<keyof AccountPageSet, 'localeOf' | 'mail' | 'addressMail'>

/** The content of the pages of an account. */
export type AccountTemplates = {
  readonly [Name in PageName]: (view: Parameters<AccountPageSet[Name]>[0], tools: AccountTools) => Page
}

function signedOut({ again, hasCookies }: SignedOutView, { text, own }: AccountTools): Page {
  const title = own('accountTitle')
  const content = html`<h1>${title}</h1><p>${text(hasCookies === false ? 'errorCookies' : 'deviceSignedOut')}</p><p><a id="continue" href="${again}">${text('signIn')}</a></p>`
  return { title, content }
}

function deleted({ again }: { readonly again: string }, { text, own }: AccountTools): Page {
  const title = own('deletedTitle')
  return {
    title,
    content: html`<h1>${title}</h1><p id="deleted">${own('deleted')}</p><p><a id="continue" href="${again}">${text('signIn')}</a></p>`,
  }
}

const ownTemplates: AccountTemplates = {
  overview,
  confirm,
  addPasskey,
  changeProfile,
  changeAddress,
  proveAddress,
  changePassword,
  renamePasskey,
  setUpApp,
  recoveryCodes,
  deleted,
  signedOut,
  error,
}

/**
 * Creates the pages of an account, in the appearance of `createPages()`. They are never shown in frames.
 *
 * @throws TypeError when an option is malformed.
 */
export function createAccountPages(
  input: PagesOptions & { readonly templates?: Partial<AccountTemplates> | undefined } = {},
): AccountPageSet {
  const { templates, ...appearance } = input
  const set = createPageSet(settingsOf(appearance, 'createAccountPages()'), accountTools)
  return {
    localeOf: set.localeOf,
    ...set.renderers({ ...ownTemplates, ...templates }, []),
    addressMail: (view, locale) => addressMail(view, set.toolsFor(locale)),
    mail: (view, locale) => mail(view, set.toolsFor(locale)),
  }
}
