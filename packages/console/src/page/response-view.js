import { claimTable } from './claim-table.js'
import { curlCommand } from './curl.js'
import { byId, copyButton, element } from './elements.js'
import { decodeJwt } from './jwt.js'
import { errorDescription } from './labels.js'

/** @import { ServerResponse, Call } from './exchange.js' */

/**
 * @param {Call} call
 * @param {ServerResponse} response
 * @returns {readonly [mark: string, tone: string, sentence: string]}
 */
function verdict({ success = 'done.', refusal }, { status, json }) {
  if (status === 0) return ['✕', 'bad', 'No response. Is the server still running?']
  if (status >= 400) {
    const error = typeof json?.error === 'string' ? json.error : undefined
    if (refusal !== undefined && (error === 'invalid_grant' || error === 'invalid_token'))
      return ['✕', 'bad', `${status}: ${refusal}`]
    return ['✕', 'bad', `${status}: refused. ${error === undefined ? '' : errorDescription(error)}`]
  }
  if (json?.active === false)
    return ['○', 'calm', `${status}: not active. The server does not accept this token, or this API may not see it.`]
  if (json?.active === true) return ['✓', 'good', `${status}: active. The server accepts this token.`]
  if (json?.access_token !== undefined) return ['✓', 'good', `${status}: success. The tokens are explained below.`]
  return ['✓', 'good', `${status}: ${success}`]
}

/** @param {ServerResponse} response */
function bodyText({ status, json, text }) {
  if (json !== undefined) return JSON.stringify(json, null, 2)
  if (text !== '') return text.slice(0, 20_000)
  return status === 0 ? '' : '(empty)'
}

/**
 * @param {string} title
 * @param {string} text
 * @param {string} [copies] the accessible name of the copy button
 */
const block = (title, text, copies) =>
  element(
    'div',
    { class: 'block' },
    element('div', { class: 'block-head' }, element('h3', {}, title), copies !== undefined && copyButton(copies, text)),
    // Focusable, so that long lines can be scrolled with the keyboard.
    element('pre', { tabindex: '0', 'aria-label': title }, text),
  )

const nonceUsed =
  'The server first refused the proof, because it requires its nonce in it (use_dpop_nonce). The page signed a new proof with the nonce and repeated the request.'

const provedOnce =
  'The server accepts a DPoP proof once, so it refuses this command as a replay. A client signs a new proof for each request.'

/** @param {string} proof */
function proofPart(proof) {
  const { header = {}, claims = {} } = decodeJwt(proof) ?? {}
  return element(
    'details',
    {},
    element('summary', {}, 'DPoP proof of the request'),
    element(
      'div',
      { class: 'token-inside' },
      claimTable('Header', header, 'proof'),
      claimTable('Claims', claims, 'proof'),
    ),
  )
}

/** Removes the response to a request of another client. */
export function clearResponse() {
  const outcome = byId('outcome')
  outcome.className = 'outcome'
  outcome.replaceChildren('No request of this client sent yet.')
  byId('exchange').replaceChildren()
}

/**
 * Shows a request and its response, and moves the focus there.
 *
 * @param {Call} call
 * @param {ServerResponse} response
 */
export function showResponse(call, response) {
  const [mark, tone, sentence] = verdict(call, response)
  const { proof, repeated = false } = response
  const outcome = byId('outcome')
  outcome.className = `outcome ${tone}`
  outcome.replaceChildren(
    element('span', { class: 'mark', 'aria-hidden': 'true' }, mark),
    element('span', {}, element('strong', {}, call.title), ' ', sentence, repeated && ` ${nonceUsed}`),
  )
  const request = block('Request as curl', curlCommand(call, location.origin, proof), 'Copy the curl command')
  if (proof !== undefined) request.append(element('p', { class: 'hint' }, provedOnce))
  byId('exchange').replaceChildren(
    request,
    block('Response body', bodyText(response)),
    ...(proof === undefined ? [] : [proofPart(proof)]),
    element(
      'details',
      {},
      element('summary', {}, `Headers (${Math.round(response.milliseconds)} ms)`),
      element(
        'dl',
        { class: 'headers' },
        ...response.headers.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
      ),
    ),
  )
  byId('response-title').focus()
}
