import type { FormPostView } from '@grantry/plugins/authorization-endpoint'
import { html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import { form } from './parts.ts'

/** A form that sends itself. Without scripts, the user presses its button. */
export function formPost(view: FormPostView, { text }: Tools): Page {
  const title = text('continueTitle')
  const content = html`<h1>${title}</h1><p>${text('continueIntro')}</p>${form(
    view,
    html`<button class="primary" id="continue">${text('continueButton')}</button>`,
  )}`
  return {
    title,
    content,
    formTargets: view.formTargets,
    ...(view.waits !== true && { script: 'document.forms[0].submit()' }),
  }
}
