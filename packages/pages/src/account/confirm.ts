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

/** What the page of a change says. */
function textsOf(view: ConfirmView, tools: AccountTools): Texts {
  const { own, ownTitle } = tools
  switch (view.change) {
    case 'end_session': {
      const about = html`<p>${sessionLines(view.session, tools)}</p><p>${own('endSessionIntro')}</p>`
      return { title: own('endSessionTitle'), about, button: own('endSession') }
    }
    case 'end_other_sessions':
      return { title: own('endOthersTitle'), about: html`<p>${own('endOthersIntro')}</p>`, button: own('endOthers') }
    case 'remove_app':
      return { title: own('otpRemoveTitle'), about: html`<p>${own('otpRemoveIntro')}</p>`, button: own('remove') }
    case 'new_recovery_codes': {
      const title = own('recoveryCreate')
      return { title, about: html`<p>${own('recoveryCreateIntro')}</p>`, button: title }
    }
    case 'download_data':
      return { title: own('dataTitle'), about: html`<p>${own('dataIntro')}</p>`, button: own('dataDownload') }
    case 'delete_account':
      return { title: own('deleteTitle'), about: html`<p>${own('deleteIntro')}</p>`, button: own('deleteButton') }
    case 'remove_passkey': {
      const values = { name: view.name }
      const heading = ownTitle('removePasskeyTitle', values)
      const about = html`<p>${own('removePasskeyIntro')}</p>`
      return { title: own('removePasskeyTitle', values), heading, about, button: own('remove') }
    }
    case 'link_provider': {
      const { provider } = view
      const button = own('linkContinue', { provider })
      const heading = ownTitle('linkTitle', { provider })
      return { title: own('linkTitle', { provider }), heading, about: html`<p>${own('linkIntro')}</p>`, button }
    }
    case 'unlink_provider': {
      const values = { provider: view.provider }
      const title = own('unlinkTitle', values)
      return {
        title,
        heading: ownTitle('unlinkTitle', values),
        about: html`<p>${own('unlinkIntro')}</p>`,
        button: own('remove'),
      }
    }
    case 'kept_form': {
      const title = own(keptTitles[view.of])
      return { title, about: html`<p>${own('keptIntro')}</p>`, button: own('confirm') }
    }
    case 'withdraw': {
      const values = { client: nameOf(view.application) }
      const about = html`<p>${own('withdrawIntro')}</p>`
      const title = own('withdrawTitle', values)
      return { title, heading: ownTitle('withdrawTitle', values), about, button: own('withdraw') }
    }
  }
}

/** Asks before a change. One button; the fields are hidden. */
export function confirm(view: ConfirmView, tools: AccountTools): Page {
  const { title, heading = title, about, button } = textsOf(view, tools)
  // What cannot be undone looks different from every other button.
  const tone = view.change === 'delete_account' ? 'primary danger' : 'primary'
  const change =
    view.change === 'link_provider' ? leaveLink(view, button, tools) : changeForm(view, button, tools, undefined, tone)
  const content = html`<h1>${heading}</h1>${userLine(view.subjectName, tools)}${about}${change}`
  return { title, content }
}
