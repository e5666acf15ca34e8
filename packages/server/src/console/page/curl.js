/** @import { Call } from './exchange.js' */

/**
 * Quotes a text so that a POSIX shell reads it as one word.
 *
 * @param {string} text
 */
export const shellWord = (text) => (/^[\w./:=@%+,-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/**
 * Returns the request as a curl command.
 *
 * @param {Call} call
 * @param {string} origin
 */
export function curlCommand({ method, path, credentials, bearer, form }, origin) {
  const parts = [`curl -i ${shellWord(origin + path)}`]
  if (method !== 'POST') parts.push(`-X ${method}`)
  if (credentials !== undefined) parts.push(`-u ${shellWord(credentials.map(encodeURIComponent).join(':'))}`)
  if (bearer !== undefined) parts.push(`-H ${shellWord(`Authorization: Bearer ${bearer}`)}`)
  // curl encodes only the part after the first `=`.
  for (const [name, value] of form ?? []) {
    parts.push(`--data-urlencode ${shellWord(`${encodeURIComponent(name)}=${value}`)}`)
  }
  return parts.join(' \\\n  ')
}
