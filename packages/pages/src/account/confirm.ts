import type { ConfirmView } from '@grantry/plugins/account'
import { type Html, html } from '../html.ts'
import { nameOf, userLine } from '../templates/parts.ts'
import type { Page } from '../tools.ts'
import { changeForm, sessionLines } from './parts.ts'
import { leaveLink } from './providers.ts'
import type { AccountTools } from './tools.ts'

interface Texts {
  readonly title: string
  /** The title, with a name as an element. */
  readonly heading?: Html
  readonly about: Html
  readonly button: string
}

const keptTitles = {
  passkey: 'addPasskey',
  passkey_name: 'rename',
  app: 'otpName',
  address: 'emailChange',
  password: 'passwordChange',
  profile: 'profileChange',
} as const

/** Returns the texts of the page of a change. */
function textsOf(view: ConfirmView, tools: AccountTools): Texts {
  const { accountText, accountTitle } = tools
  switch (view.change) {
    case 'end_session': {
      const about = html`<p>${sessionLines(view.session, tools)}</p><p>${accountText('endSessionIntro')}</p>`
      return { title: accountText('endSessionTitle'), about, button: accountText('endSession') }
    }
    case 'end_other_sessions':
      return {
        title: accountText('endOthersTitle'),
        about: html`<p>${accountText('endOthersIntro')}</p>`,
        button: accountText('endOthers'),
      }
    case 'remove_app':
      return {
        title: accountText('otpRemoveTitle'),
        about: html`<p>${accountText('otpRemoveIntro')}</p>`,
        button: accountText('remove'),
      }
    case 'new_recovery_codes': {
      const title = accountText('recoveryCreate')
      return { title, about: html`<p>${accountText('recoveryCreateIntro')}</p>`, button: title }
    }
    case 'download_data':
      return {
        title: accountText('dataTitle'),
        about: html`<p>${accountText('dataIntro')}</p>`,
        button: accountText('dataDownload'),
      }
    case 'delete_account':
      return {
        title: accountText('deleteTitle'),
        about: html`<p>${accountText('deleteIntro')}</p>`,
        button: accountText('deleteButton'),
      }
    case 'remove_passkey': {
      const values = { name: view.name }
      const heading = accountTitle('removePasskeyTitle', values)
      const about = html`<p>${accountText('removePasskeyIntro')}</p>`
      return { title: accountText('removePasskeyTitle', values), heading, about, button: accountText('remove') }
    }
    case 'link_provider': {
      const { provider } = view
      const button = accountText('linkContinue', { provider })
      const heading = accountTitle('linkTitle', { provider })
      return {
        title: accountText('linkTitle', { provider }),
        heading,
        about: html`<p>${accountText('linkIntro')}</p>`,
        button,
      }
    }
    case 'unlink_provider': {
      const values = { provider: view.provider }
      const title = accountText('unlinkTitle', values)
      return {
        title,
        heading: accountTitle('unlinkTitle', values),
        about: html`<p>${accountText('unlinkIntro')}</p>`,
        button: accountText('remove'),
      }
    }
    case 'kept_form': {
      const title = accountText(keptTitles[view.of])
      return { title, about: html`<p>${accountText('keptIntro')}</p>`, button: accountText('confirm') }
    }
    case 'withdraw': {
      const values = { client: nameOf(view.application) }
      const about = html`<p>${accountText('withdrawIntro')}</p>`
      const title = accountText('withdrawTitle', values)
      return { title, heading: accountTitle('withdrawTitle', values), about, button: accountText('withdraw') }
    }
  }
}

/** Asks before a change. One button; the fields are hidden. */
export function confirm(view: ConfirmView, tools: AccountTools): Page {
  const { title, heading = title, about, button } = textsOf(view, tools)
  // The button of a change that cannot be undone looks different from all others.
  const tone = view.change === 'delete_account' ? 'primary danger' : 'primary'
  const change =
    view.change === 'link_provider' ? leaveLink(view, button, tools) : changeForm(view, button, tools, undefined, tone)
  const content = html`<h1>${heading}</h1>${userLine(view.subjectName, tools)}${about}${change}`
  return { title, content }
}
