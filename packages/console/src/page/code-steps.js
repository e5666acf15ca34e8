import { element } from './elements.js'
import { createProofKey } from './proof-key.js'

/** @import { grantFields } from './grant-fields.js' */

/** Where the application of the demo passes codes on. */
const channelName = 'grantry-demo'

/**
 * Returns the sign-in part of the authorization code grant. The user signs in on the pages of the server, in another tab;
 * the redirect URI of the demo passes the code on to the console.
 *
 * @param {object} parts
 * @param {string} parts.authorizationPath
 * @param {() => { clientId: string, redirectUri: string, scope: string }} parts.authorizationRequest
 * @param {(fields: Record<string, string>) => void} parts.onCode receives the fields of the token request
 */
function signIn({ authorizationPath, authorizationRequest, onCode }) {
  const outcome = element('p', { class: 'hint', role: 'status', id: 'sign-in-outcome' }, '')

  async function getCode() {
    const { verifier, challenge } = await createProofKey()
    const { clientId, redirectUri, scope } = authorizationRequest()
    const state = `console.${(await createProofKey()).verifier}`
    const parameters = new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope,
      state,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const channel = new BroadcastChannel(channelName)
    channel.addEventListener('message', ({ data }) => {
      if (data.state !== state) return
      channel.close()
      outcome.textContent =
        data.error === undefined ? 'The code is filled in below. Redeem it within a minute.' : data.error
      if (data.code !== undefined) onCode({ code: data.code, redirect_uri: redirectUri, code_verifier: verifier })
    })
    outcome.textContent = 'Sign in, in the other tab.'
    window.open(`${authorizationPath}?${parameters}`, 'grantry-sign-in')
  }

  return element(
    'fieldset',
    {},
    element('legend', {}, '1. Sign in'),
    element(
      'p',
      { class: 'hint' },
      'Opens the sign-in page of this server in another tab. The console creates a new proof key (PKCE) and sends only its hash.',
    ),
    element('button', { type: 'button', onclick: getCode }, 'Sign in and get a code'),
    outcome,
  )
}

/**
 * Returns the two steps of the authorization code grant in the demo: the sign-in fills in the fields of the code.
 *
 * @param {ReturnType<typeof grantFields>} fields
 * @param {object} parts
 * @param {string} parts.authorizationPath
 * @param {() => { clientId: string, redirectUri: string, scope: string }} parts.authorizationRequest
 * @param {() => void} parts.onFilled
 */
export const codeSteps = (fields, { authorizationPath, authorizationRequest, onFilled }) => [
  signIn({
    authorizationPath,
    authorizationRequest,
    onCode: (values) => {
      fields.fill(values)
      onFilled()
    },
  }),
  element('fieldset', {}, element('legend', {}, '2. Redeem the code'), ...fields.parts),
]
