/**
 * A request as the page thinks of it.
 *
 * @typedef {object} Call
 * @property {string} title what the user asked for
 * @property {'GET' | 'POST'} method
 * @property {string} path
 * @property {readonly [id: string, secret: string]} [credentials] for HTTP Basic
 * @property {string} [bearer]
 * @property {readonly (readonly [name: string, value: string])[]} [form]
 * @property {string} [success] what it means when it works
 * @property {string} [refusal] what it means when it is refused, where that was the aim
 */

/**
 * What came back.
 *
 * @typedef {object} Answer
 * @property {number} status 0 where there was no answer
 * @property {readonly (readonly [name: string, value: string])[]} headers those that say something
 * @property {string} text
 * @property {any} json the body, where it is JSON
 * @property {number} milliseconds
 */

const telling = [
  'content-type',
  'cache-control',
  'www-authenticate',
  'retry-after',
  'allow',
  'x-request-id',
  'traceparent',
]

/** @param {readonly [string, string]} credentials RFC 6749 section 2.3.1: each part is encoded first */
const basic = (credentials) => `Basic ${btoa(credentials.map(encodeURIComponent).join(':'))}`

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    // No JSON is an answer too; it is shown as it is.
    return undefined
  }
}

/**
 * Sends it. It never rejects: a server that is gone is an answer with status 0.
 *
 * @param {Call} call
 * @returns {Promise<Answer>}
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
      headers: telling.flatMap((name) => {
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
