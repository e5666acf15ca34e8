import type { ErrorView } from '@grantry/plugins/authorization-endpoint'
import { type Content, html } from '../html.ts'
import type { Messages } from '../texts.ts'
import type { Page, Tools } from '../tools.ts'
import { waysOn } from './parts.ts'

const phrases: Readonly<Record<string, keyof Messages>> = {
  unauthorized_client: 'errorClient',
  invalid_request_uri: 'errorExpired',
  server_error: 'errorServer',
  temporarily_unavailable: 'errorServer',
  slow_down: 'tooManyAttempts',
}

const phraseOf = ({ code, reason }: ErrorView): keyof Messages => {
  if (reason === 'endpoint_unknown' || reason === 'method_not_allowed') return 'errorNotFound'
  if (reason === 'plugin:registration:client_ended') return 'errorEnded'
  if (reason.endsWith(':cookies_missing')) return 'errorCookies'
  if (reason.endsWith(':interaction_unknown') || reason.endsWith(':interaction_used')) return 'errorExpired'
  return Object.hasOwn(phrases, code) ? (phrases[code] ?? 'errorRequest') : 'errorRequest'
}

/** The errors for which no application can help. */
const withoutHint: ReadonlySet<keyof Messages> = new Set(['errorEnded', 'errorNotFound'])

/** For the developer of an application, who knows the names of its settings in every language. */
const registeredList = ({ registered }: Pick<ErrorView, 'registered'>): Content =>
  Object.entries(registered ?? {}).map(
    ([name, values]) => html`<dd><code class="registered">${`${name}: ${values.join(' ')}`}</code></dd>`,
  )

/** Shows a fixed phrase for each code, and never text of the request. */
export function error(view: ErrorView, tools: Tools): Page {
  const { text } = tools
  const phrase = phraseOf(view)
  const title = text(phrase === 'errorNotFound' ? 'errorNotFoundTitle' : 'errorTitle')
  const reference = view.requestId === undefined ? '' : html`<dd><code id="request">${view.requestId}</code></dd>`
  const content = html`<h1>${title}</h1><p id="explanation">${text(phrase)}</p>${!withoutHint.has(phrase) && html`<p>${text('errorHint')}</p>`}<div class="ways onward">${waysOn(view, tools)}</div>
<dl><dt>${text('errorReference')}</dt>${reference}<dd><code id="error">${view.code}</code></dd><dd><code id="reason">${view.reason}</code></dd>${registeredList(view)}</dl>`
  return { title, content }
}
