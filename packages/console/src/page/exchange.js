/** @import { DpopKey } from './dpop.js' */

/**
 * A request of the page.
 *
 * @typedef {object} Call
 * @property {string} title the action of the user
 * @property {'GET' | 'POST'} method
 * @property {string} path
 * @property {readonly [id: string, secret: string]} [credentials] for HTTP Basic
 * @property {string} [accessToken] sent with a proof if there is a key, otherwise as a bearer token
 * @property {DpopKey | undefined} [key] signs a proof for the request (RFC 9449)
 * @property {readonly (readonly [name: string, value: string])[]} [form]
 * @property {string} [success] explains a success
 * @property {string} [refusal] explains an expected refusal
 */

/**
 * The response.
 *
 * @typedef {object} ServerResponse
 * @property {number} status 0 if there was no response
 * @property {readonly (readonly [name: string, value: string])[]} headers the interesting headers
 * @property {string} text
 * @property {any} json the body, if it is JSON
 * @property {number} milliseconds
 * @property {string | undefined} [proof] the DPoP proof of the request
 * @property {boolean} [repeated] whether the request was repeated because the server required its nonce in the proof
 */

const shownHeaders = [
  'content-type',
  'cache-control',
  'www-authenticate',
  'dpop-nonce',
  'retry-after',
  'allow',
  'x-request-id',
  'traceparent',
]

/** @param {readonly [string, string]} credentials encoded as in RFC 6749 section 2.3.1 */
const basic = (credentials) => `Basic ${btoa(credentials.map(encodeURIComponent).join(':'))}`

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    // A body that is not JSON is shown as text.
    return undefined
  }
}

/**
 * @param {Call} call
 * @returns {Promise<ServerResponse>}
 */
async function sendOnce({ method, path, credentials, accessToken, key, form }) {
  const started = performance.now()
  const proof = await key?.prove({ method, path, accessToken })
  const headers = new Headers()
  if (credentials !== undefined) headers.set('authorization', basic(credentials))
  if (accessToken !== undefined)
    headers.set('authorization', `${proof === undefined ? 'Bearer' : 'DPoP'} ${accessToken}`)
  if (proof !== undefined) headers.set('dpop', proof)
  const body = form === undefined ? undefined : new URLSearchParams(form.map(([name, value]) => [name, value]))
  try {
    const response = await fetch(path, {
      method,
      headers,
      ...(body && { body }),
      credentials: 'omit',
      redirect: 'manual',
    })
    const text = await response.text()
    // Also a success can contain a new nonce (RFC 9449 section 8.2).
    if (key !== undefined) key.nonce = response.headers.get('dpop-nonce') ?? key.nonce
    return {
      status: response.status,
      headers: shownHeaders.flatMap((name) => {
        const value = response.headers.get(name)
        return value === null ? [] : [/** @type {const} */ ([name, value])]
      }),
      text,
      json: parse(text),
      milliseconds: performance.now() - started,
      proof,
    }
  } catch {
    return { status: 0, headers: [], text: '', json: undefined, milliseconds: performance.now() - started, proof }
  }
}

/**
 * Sends a request, and repeats it once if the server requires its nonce in the proof (RFC 9449 section 8). Never
 * rejects: if there is no response, the status is 0.
 *
 * @param {Call} call
 * @returns {Promise<ServerResponse>}
 */
export async function exchange(call) {
  const response = await sendOnce(call)
  if (response.json?.error !== 'use_dpop_nonce' || call.key?.nonce === undefined) return response
  return { ...(await sendOnce(call)), repeated: true }
}
