import type { SecondFactorView } from '@grantry/plugins/sign-in'
import { html } from '../html.ts'
import type { Page, Tools } from '../tools.ts'
import { alert, continuing, form, heading, opened } from './parts.ts'
import { formScript } from './scripts.ts'
import { tooManyAttempts } from './too-many-attempts.ts'

function problemText({ problem, retryAfter }: SecondFactorView, tools: Tools): string | undefined {
  if (problem === undefined) return undefined
  return problem === 'wrong_code' ? tools.text('wrongCode') : tooManyAttempts(retryAfter, tools)
}

/** The field `code`, and the button `decision` with the value `cancel`. */
export function secondFactor(view: SecondFactorView, tools: Tools): Page {
  const { client } = view
  const { text } = tools
  const message = problemText(view, tools)
  const content = html`${heading(client, text('secondFactorTitle'), continuing(client, tools))}<p>${text('secondFactorIntro')}</p>${alert(message)}${form(
    view,
    html`<label for="code">${text('secondFactorCode')}</label><input id="code" class="digits" name="code" required maxlength="64" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" dir="ltr" autofocus${message !== undefined && html` aria-describedby="problem"`}>
<button class="primary" id="confirm">${text('continueButton')}</button><button class="quiet" id="cancel" name="decision" value="cancel" formnovalidate>${text('cancel')}</button>`,
  )}${opened(view, tools)}`
  return { title: text('secondFactorTitle'), content, client, formTargets: view.formTargets, script: formScript }
}
