import type { AccountPages } from '@grantry/plugins/account'
import { html } from '../html.ts'
import { createPageSet, type Framed, type TemplatesOf } from '../page-set.ts'
import { type PagesOptions, settingsOf } from '../pages-options.ts'
import { error } from '../templates/error.ts'
import { addressMail, changeAddress, proveAddress } from './address.ts'
import { confirm } from './confirm.ts'
import { mail } from './mail.ts'
import { overview } from './overview.ts'
import { addPasskey, renamePasskey } from './passkeys.ts'
import { changePassword } from './password.ts'
import { changeProfile } from './profile.ts'
import { recoveryCodes, setUpApp } from './second-factors.ts'
import { type AccountTools, accountTools } from './tools.ts'

/** The content of the pages of an account. */
export type AccountTemplates = TemplatesOf<AccountPages, AccountTools>

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
  deleted({ again }, { text, accountText }) {
    const title = accountText('deletedTitle')
    return {
      title,
      content: html`<h1>${title}</h1><p id="deleted">${accountText('deleted')}</p><p><a id="continue" href="${again}">${text('signIn')}</a></p>`,
    }
  },
  signedOut({ again, hasCookies }, { text, accountText }) {
    const title = accountText('accountTitle')
    const content = html`<h1>${title}</h1><p>${text(hasCookies === false ? 'errorCookies' : 'deviceSignedOut')}</p><p><a id="continue" href="${again}">${text('signIn')}</a></p>`
    return { title, content }
  },
  error,
}

/**
 * Creates the pages of an account, in the appearance of `createPages()`. They are never shown in frames.
 *
 * @throws TypeError when an option is malformed.
 */
export function createAccountPages(
  input: PagesOptions & { readonly templates?: Partial<AccountTemplates> | undefined } = {},
): Framed<AccountPages> {
  const { templates, ...appearance } = input
  const set = createPageSet(settingsOf(appearance, 'createAccountPages()'), accountTools)
  return {
    localeOf: set.localeOf,
    ...set.renderers({ ...ownTemplates, ...templates }, []),
    addressMail: (view, locale) => addressMail(view, set.toolsFor(locale)),
    mail: (view, locale) => mail(view, set.toolsFor(locale)),
  }
}
