import type { DevicePageProblem, DeviceView } from '@grantry/plugins/device-authorization'
import { type Content, html } from '../html.ts'
import type { Messages } from '../texts.ts'
import type { Page, Tools } from '../tools.ts'
import { access, lastingLast, onlyResource } from './access.ts'
import { origin } from './origin.ts'
import { alert, clientLinks, heading, nameOf, userLine } from './parts.ts'
import { formScript } from './scripts.ts'

const problems: Readonly<Record<DevicePageProblem, keyof Messages>> = {
  code_unknown: 'deviceUnknownCode',
  too_many_guesses: 'tooManyAttempts',
  form_expired: 'formExpired',
}

type Confirmation = Extract<DeviceView, { readonly step: 'confirm' }>

function confirmation(view: Confirmation, tools: Tools): Content {
  const { client, userCode, formToken, subjectName, choosable, leftOut, problem, otherAccount } = view
  const { text } = tools
  const scopes = view.scopes.map((name) => ({
    name,
    ...(choosable.includes(name) && { choice: { field: `scope:${name}`, isTicked: !leftOut.includes(name) } }),
  }))
  const asked = { scopes: lastingLast(scopes), resources: view.resources, claims: [], problem }
  const switchLink =
    otherAccount !== undefined && html`<a id="switch" class="change" href="${otherAccount}">${text('otherAccount')}</a>`
  const user = subjectName !== undefined && html`<div class="user">${userLine(subjectName, tools)}${switchLink}</div>`
  const chosen = choosable.length > 0 && html`<input type="hidden" name="chosen" value="yes">`
  return html`${user}<p>${text('deviceCompare')}</p><p class="code" id="code" dir="ltr">${userCode}</p><p>${text('deviceWarning')}</p>${origin(view.described, tools)}${onlyResource(asked, tools)}${alert(problem && text('consentNothing'))}<form method="post"><input type="hidden" name="form_token" value="${formToken}">${chosen}${access(asked, tools)}<button class="primary" id="approve" name="decision" value="approve">${text('deviceApprove')}</button><button id="deny" name="decision" value="deny">${text('deny')}</button></form>${clientLinks(client, tools)}`
}

function contentOf(view: DeviceView, tools: Tools): Content {
  const { text } = tools
  const again = html`<a id="again" href="" class="way">${text('deviceAnother')}</a>`
  switch (view.step) {
    case 'signed_out':
      return html`<p>${text(view.insufficientFor === undefined ? 'deviceSignedOut' : 'deviceInsufficient')}</p><a id="continue" href="${view.again}" class="way primary">${text('deviceContinue')}</a>`
    case 'enter_code': {
      const { problem } = view
      return html`<p>${text('deviceEnter')}</p>${alert(problem && text(problems[problem]))}<form method="post"><label for="user_code">${text('deviceCode')}</label><input id="user_code" name="user_code" required maxlength="40" autofocus autocomplete="off" autocapitalize="characters" spellcheck="false" dir="ltr"${problem !== undefined && html` aria-describedby="problem"`}><button class="primary" id="continue">${text('deviceContinue')}</button></form>`
    }
    case 'confirm':
      return confirmation(view, tools)
    case 'approved':
      return html`<p role="status" id="approved">${text('deviceApproved')}</p>${again}`
    case 'denied':
      return html`<p role="status" id="denied">${text('deviceDenied')}</p>${again}`
  }
}

/** The field `user_code`; later the buttons `decision` with the values `approve` and `deny`. */
export function deviceCode(view: DeviceView, tools: Tools): Page {
  const title = tools.text('deviceTitle')
  const client = view.step === 'confirm' ? view.client : undefined
  const top =
    client === undefined
      ? html`<h1>${title}</h1>`
      : heading(client, title, tools.rich('consentTitle', { client: nameOf(client) }))
  const script = view.step === 'confirm' || view.step === 'enter_code' ? formScript : undefined
  return { title, content: html`${top}${contentOf(view, tools)}`, client, script }
}
