/**
 * What this tab remembers while its user signs in on the pages of the server. No other tab can read it. It contains no
 * token: the verifier is useless without the code and the key.
 *
 * @typedef {object} PendingSignIn
 * @property {string} state
 * @property {string} verifier of PKCE
 * @property {string} hash the page to return to
 * @property {boolean} silent whether the user must not be asked
 * @property {string} [sub] who was signed in before
 * @property {string} [reason] what the page says afterwards
 * @property {Record<string, unknown>} [drafts] what the user has typed, by the fragments of the pages
 */

const key = 'grantry-console-sign-in'

/** @param {PendingSignIn} pending */
export const rememberSignIn = (pending) => sessionStorage.setItem(key, JSON.stringify(pending))

/**
 * Returns what the tab remembers, and forgets it: a response is used once.
 *
 * @returns {PendingSignIn | undefined}
 */
export function takeSignIn() {
  const text = sessionStorage.getItem(key)
  sessionStorage.removeItem(key)
  return text === null ? undefined : JSON.parse(text)
}
