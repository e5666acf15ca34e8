import { element, field, textInput } from './elements.js'
import { createProofKey } from './proof-key.js'

/** @import { Answer, Call } from './exchange.js' */
/** @import { Demo } from './setup.js' */

/**
 * The part of the code grant that happens at the server's login page; in the demo a stand-in for one answers with the code.
 *
 * @param {object} parts
 * @param {Demo} parts.demo
 * @param {() => { clientId: string, redirectUri: string, scope: string }} parts.asked
 * @param {(call: Call) => Promise<Answer>} parts.send
 * @param {(fields: Record<string, string>) => void} parts.got what the client redeems then
 */
export function signIn({ demo, asked, send, got }) {
  const [user] = demo.users
  const username = textInput('sign-in-username', user?.username ?? '')
  const password = textInput('sign-in-password', user?.password ?? '')

  async function getCode() {
    const { verifier, challenge } = await createProofKey()
    const { clientId, redirectUri, scope } = asked()
    const answer = await send({
      title: 'Sign in.',
      success: 'here is the code. It is filled in below: redeem it within a minute.',
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
    if (typeof answer.json?.code === 'string')
      got({ code: answer.json.code, redirect_uri: redirectUri, code_verifier: verifier })
  }

  return element(
    'fieldset',
    {},
    element('legend', {}, 'First, sign in'),
    element(
      'p',
      { class: 'hint' },
      'This stands in for your login page. The page makes a new proof key (PKCE), and sends only its hash.',
    ),
    field(
      'User name',
      username,
      `Also: ${demo.users
        .slice(1)
        .map((other) => `${other.username} / ${other.password}`)
        .join(', ')}`,
    ),
    field('Password of the user', password),
    element('button', { type: 'button', onclick: getCode }, 'Sign in and get a code'),
  )
}
