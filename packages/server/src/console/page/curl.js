/** @import { Call } from './exchange.js' */

/**
 * A word of a POSIX shell, whatever is in it.
 *
 * @param {string} text
 */
export const shellWord = (text) => (/^[\w./:=@%+,-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/**
 * The same request for a terminal.
 *
 * @param {Call} call
 * @param {string} origin
 */
export function curlCommand({ method, path, credentials, bearer, form }, origin) {
  const parts = [`curl -i ${shellWord(origin + path)}`]
  if (method !== 'POST') parts.push(`-X ${method}`)
  if (credentials !== undefined) parts.push(`-u ${shellWord(credentials.map(encodeURIComponent).join(':'))}`)
  if (bearer !== undefined) parts.push(`-H ${shellWord(`Authorization: Bearer ${bearer}`)}`)
  // curl encodes what stands after the first `=`, and nothing before it.
  for (const [name, value] of form ?? []) {
    parts.push(`--data-urlencode ${shellWord(`${encodeURIComponent(name)}=${value}`)}`)
  }
  return parts.join(' \\\n  ')
}
