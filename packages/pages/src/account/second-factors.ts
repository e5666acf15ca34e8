import type { RecoveryCodesView, SetUpAppView } from '@grantry/plugins/account'
import { type Content, html } from '../html.ts'
import { alert, userLine } from '../templates/parts.ts'
import type { Page } from '../tools.ts'
import { changeForm } from './parts.ts'
import { qrCode } from './qr-code.ts'
import type { AccountTools } from './tools.ts'

/** Modules of the light border, which scanners need (ISO/IEC 18004). */
const border = 4

/**
 * Dark on light in both themes, because scanners expect it. The key below it is its alternative, also where the URI of a
 * host is too long for a code.
 */
function qrImage(text: string): Content {
  const modules = qrCode(text)
  if (modules === undefined) return false
  const size = modules.length + 2 * border
  const path = modules
    .flatMap((row, y) => {
      const text = row.map((isDark) => (isDark ? '#' : '.')).join('')
      return [...text.matchAll(/#+/gu)].map(
        (run) => `M${run.index + border} ${y + border}h${run[0].length}v1h-${run[0].length}z`,
      )
    })
    .join('')
  return html`<svg id="qr" aria-hidden="true" viewBox="0 0 ${size} ${size}" width="100%" shape-rendering="crispEdges"><rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" fill="#000"/></svg>`
}

/** The field `code`. */
export function setUpApp(view: SetUpAppView, tools: AccountTools): Page {
  const { accountText, text } = tools
  const title = accountText('otpName')
  const message = view.problem && text('wrongCode')
  const described: Content = message !== undefined && html` aria-describedby="problem"`
  const key = view.secret.replaceAll(/(.{4})(?=.)/gu, '$1 ')
  const fields = html`<label for="code">${accountText('otpCode')}</label><input id="code" name="code" class="digits" required maxlength="64" inputmode="numeric" autocomplete="one-time-code" dir="ltr"${described}>`
  const image = html`${qrImage(view.uri)}<p>${accountText('otpKey')}</p><p><code id="key" dir="ltr">${key}</code></p>`
  const content = html`<h1>${title}</h1>${userLine(view.subjectName, tools)}<p>${accountText('otpIntro')}</p>${alert(message)}${image}${changeForm(view, accountText('confirm'), tools, fields)}`
  return { title, content }
}

/** Shows the codes once. */
export function recoveryCodes({ subjectName, codes, next }: RecoveryCodesView, tools: AccountTools): Page {
  const { accountText } = tools
  const title = accountText('recoveryName')
  const items = codes.map((code) => html`<li><code dir="ltr">${code}</code></li>`)
  const content = html`<h1>${title}</h1>${userLine(subjectName, tools)}<p role="status" class="notice" id="notice">${accountText('recoveryCreated')}</p><p>${accountText('recoveryKeep')}</p><ul class="codes" id="codes">${items}</ul><p><a class="way primary" id="done" href="${next}">${accountText('recoveryDone')}</a></p>`
  return { title, content }
}
