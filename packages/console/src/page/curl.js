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
 * @param {string} [proof] the DPoP proof
 */
export function curlCommand({ method, path, credentials, accessToken, form }, origin, proof) {
  const parts = [`curl -i ${shellWord(origin + path)}`]
  if (method !== 'POST') parts.push(`-X ${method}`)
  if (credentials !== undefined) parts.push(`-u ${shellWord(credentials.map(encodeURIComponent).join(':'))}`)
  const scheme = proof === undefined ? 'Bearer' : 'DPoP'
  if (accessToken !== undefined) parts.push(`-H ${shellWord(`Authorization: ${scheme} ${accessToken}`)}`)
  if (proof !== undefined) parts.push(`-H ${shellWord(`DPoP: ${proof}`)}`)
  // curl encodes only the part after the first `=`.
  for (const [name, value] of form ?? []) {
    parts.push(`--data-urlencode ${shellWord(`${encodeURIComponent(name)}=${value}`)}`)
  }
  return parts.join(' \\\n  ')
}
