/**
 * A request of the page.
 *
 * @typedef {object} Call
 * @property {string} title the action of the user
 * @property {'GET' | 'POST'} method
 * @property {string} path
 * @property {readonly [id: string, secret: string]} [credentials] for HTTP Basic
 * @property {string} [bearer]
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
 */

const shownHeaders = [
  'content-type',
  'cache-control',
  'www-authenticate',
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
 * Sends a request. Never rejects: if there is no response, the status is 0.
 *
 * @param {Call} call
 * @returns {Promise<ServerResponse>}
 */
export async function exchange({ method, path, credentials, bearer, form }) {
  const started = performance.now()
  const headers = new Headers()
  if (credentials !== undefined) headers.set('authorization', basic(credentials))
  if (bearer !== undefined) headers.set('authorization', `Bearer ${bearer}`)
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
    return {
      status: response.status,
      headers: shownHeaders.flatMap((name) => {
        const value = response.headers.get(name)
        return value === null ? [] : [/** @type {const} */ ([name, value])]
      }),
      text,
      json: parse(text),
      milliseconds: performance.now() - started,
    }
  } catch {
    return { status: 0, headers: [], text: '', json: undefined, milliseconds: performance.now() - started }
  }
}
