import { html } from '../html.ts'
import { nameOf, userLine } from '../templates/parts.ts'
import type { Page } from '../tools.ts'
import { changeForm, sessionLines } from './parts.ts'
import { leaveLink } from './providers.ts'
import type { AccountTools } from './tools.ts'
import type { ConfirmView } from './views.ts'

/** What the page of a change says. */
function textsOf(view: ConfirmView, tools: AccountTools) {
  const { own } = tools
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
      const title = own('removePasskeyTitle', { name: view.name })
      return { title, about: html`<p>${own('removePasskeyIntro')}</p>`, button: own('remove') }
    }
    case 'link_provider': {
      const { provider } = view
      const button = own('linkContinue', { provider })
      return { title: own('linkTitle', { provider }), about: html`<p>${own('linkIntro')}</p>`, button }
    }
    case 'unlink_provider': {
      const title = own('unlinkTitle', { provider: view.provider })
      return { title, about: html`<p>${own('unlinkIntro')}</p>`, button: own('remove') }
    }
    case 'withdraw': {
      const title = own('withdrawTitle', { client: nameOf(view.application) })
      return { title, about: html`<p>${own('withdrawIntro')}</p>`, button: own('withdraw') }
    }
  }
}

/** Asks before a change. One button; the fields are hidden. */
export function confirm(view: ConfirmView, tools: AccountTools): Page {
  const { title, about, button } = textsOf(view, tools)
  const change = view.change === 'link_provider' ? leaveLink(view, button, tools) : changeForm(view, button, tools)
  const content = html`<h1>${title}</h1>${userLine(view.subjectName, tools)}${about}${change}`
  return { title, content }
}
