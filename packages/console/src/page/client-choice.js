import { choice, field, textInput } from './elements.js'

/** @import { Identity } from './session.js' */
/** @import { Setup } from './setup.js' */

/**
 * @param {Setup} setup
 * @param {string} clientId
 */
const clientOf = ({ clients }, clientId) => clients.find((known) => known.clientId === clientId)

/**
 * Returns the selection of the client, or a text field if the console knows no clients.
 *
 * @param {Setup} setup
 * @param {string} clientId
 */
function clientField(setup, clientId) {
  const names = setup.clients.map(
    ({ clientId, public: isPublic }) => /** @type {const} */ ([clientId, isPublic ? `${clientId} (public)` : clientId]),
  )
  const control = names.length > 0 ? choice('client', names, clientId) : textInput('client', clientId)
  const hint = clientOf(setup, clientId)?.public
    ? 'The program that requests the token. This one runs on the user’s device, so it has no secret.'
    : 'The program that requests the token.'
  return { control, part: field('Client', control, hint) }
}

/**
 * @param {Setup} setup
 * @param {string} secret
 */
function secretField({ demo }, secret) {
  const control = textInput('secret', secret, demo === undefined ? { type: 'password' } : {})
  const hint =
    demo === undefined
      ? 'Kept in the memory of this page only. Leave it empty for a public client.'
      : 'Filled in, because the secrets of the demo are public.'
  return { control, part: field('Client secret', control, hint) }
}

/**
 * Keeps the client that the user chooses, and its secret.
 *
 * @param {Setup} setup
 * @param {() => void} onChanged called when another client is chosen
 */
export function createClientChoice(setup, onChanged) {
  /** @param {string} clientId */
  const identityOf = (clientId) => ({ clientId, secret: setup.demo?.clients[clientId] ?? '' })
  let identity = identityOf(setup.clients[0]?.clientId ?? '')

  const known = () => clientOf(setup, identity.clientId)

  function fields() {
    const { control, part } = clientField(setup, identity.clientId)
    control.addEventListener('change', () => {
      identity = identityOf(control.value)
      onChanged()
    })
    if (known()?.public) return [part]
    const secret = secretField(setup, identity.secret)
    secret.control.addEventListener('input', () => {
      identity = { ...identity, secret: secret.control.value }
    })
    return [part, secret.part]
  }

  /** @returns {Identity} */
  const chosen = () => (known()?.public ? { ...identity, secret: '' } : identity)
  return { fields, known, chosen }
}
