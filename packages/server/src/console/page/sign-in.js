import { element, field, textInput } from './elements.js'
import { createProofKey } from './proof-key.js'

/** @import { ServerResponse, Call } from './exchange.js' */
/** @import { Demo } from './setup.js' */

/**
 * Returns the sign-in part of the authorization code grant. In the demo, a stand-in for a login page returns the code.
 *
 * @param {object} parts
 * @param {Demo} parts.demo
 * @param {() => { clientId: string, redirectUri: string, scope: string }} parts.authorizationRequest
 * @param {(call: Call) => Promise<ServerResponse>} parts.send
 * @param {(fields: Record<string, string>) => void} parts.onCode receives the fields of the token request
 */
export function signIn({ demo, authorizationRequest, send, onCode }) {
  const [user] = demo.users
  const username = textInput('sign-in-username', user?.username ?? '')
  const password = textInput('sign-in-password', user?.password ?? '')

  async function getCode() {
    const { verifier, challenge } = await createProofKey()
    const { clientId, redirectUri, scope } = authorizationRequest()
    const response = await send({
      title: 'Sign in.',
      success: 'the code is filled in below. Redeem it within a minute.',
      method: 'POST',
      path: demo.authorizePath,
      form: [
        ['username', username.value],
        ['password', password.value],
        ['client_id', clientId],
        ['redirect_uri', redirectUri],
        ['scope', scope],
        ['code_challenge', challenge],
        ['code_challenge_method', 'S256'],
      ],
    })
    if (typeof response.json?.code === 'string')
      onCode({ code: response.json.code, redirect_uri: redirectUri, code_verifier: verifier })
  }

  return element(
    'fieldset',
    {},
    element('legend', {}, '1. Sign in'),
    element(
      'p',
      { class: 'hint' },
      'This stands in for your login page. The console creates a new proof key (PKCE) and sends only its hash.',
    ),
    field(
      'User name',
      username,
      `Other users: ${demo.users
        .slice(1)
        .map((other) => `${other.username} / ${other.password}`)
        .join(', ')}`,
    ),
    field('Password of the user', password),
    element('button', { type: 'button', onclick: getCode }, 'Sign in and get a code'),
  )
}
