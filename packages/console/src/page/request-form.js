import { createClientChoice } from './client-choice.js'
import { codeSteps } from './code-steps.js'
import { createDpopKey } from './dpop.js'
import { byId, choice, element, field } from './elements.js'
import { freeFields } from './free-fields.js'
import { grantFields } from './grant-fields.js'
import { grantDescription, grantLabel } from './labels.js'
import { scopeBoxes } from './scope-boxes.js'
import { clientAuthentication } from './session.js'

/** @import { DpopKey } from './dpop.js' */
/** @import { Call } from './exchange.js' */
/** @import { Session, Identity } from './session.js' */
/** @import { Setup, Client } from './setup.js' */

/**
 * Keeps the grant that the user chooses, among those of the client.
 *
 * @param {Setup} setup
 * @param {() => void} onChanged
 */
function createGrantChoice({ grants }, onChanged) {
  let grantType = ''

  /** @param {Client | undefined} client */
  return function choose(client) {
    const offered = grants.filter((grant) => client === undefined || client.grantTypes.includes(grant.grantType))
    if (!offered.some((grant) => grant.grantType === grantType)) grantType = offered[0]?.grantType ?? ''
    const names = offered.map((grant) => /** @type {const} */ ([grant.grantType, grantLabel(grant.grantType)]))
    const control = choice('grant', names, grantType)
    control.addEventListener('change', () => {
      grantType = control.value
      onChanged()
    })
    const part = field('Grant type', control, `How the client gets a token. ${grantDescription(grantType)}`)
    return { grantType, grant: offered.find((grant) => grant.grantType === grantType), part }
  }
}

/** @param {readonly string[]} algorithms */
function disabledReason(algorithms) {
  if (!isSecureContext)
    return 'Not available: browsers create keys only on https pages and on pages of this machine (localhost).'
  return !algorithms.includes('ES256') && 'Not available: this server does not accept proofs signed with ES256.'
}

/**
 * Returns the checkbox that binds tokens to a key, if the server has DPoP. All token requests of the page use one key,
 * which is created for the first of them.
 *
 * @param {Setup} setup
 */
function keyBox({ issuer, dpopAlgorithms }) {
  if (dpopAlgorithms === undefined) return { part: undefined, chosen: async () => undefined }
  const reason = disabledReason(dpopAlgorithms)
  const box = element('input', {
    type: 'checkbox',
    id: 'bind',
    'aria-describedby': 'bind-hint',
    disabled: reason !== false,
  })
  const hint =
    'The page creates a key and signs a proof for each request. An access token that is stolen is useless without the key.'
  const part = element(
    'div',
    { class: 'field' },
    element('label', { class: 'box' }, box, 'Bind the tokens to a key (DPoP)'),
    element('p', { class: 'hint', id: 'bind-hint' }, reason || hint),
  )
  /** @type {Promise<DpopKey> | undefined} */
  let key
  const chosen = async () => {
    if (!box.checked) return undefined
    key ??= createDpopKey(issuer)
    return key
  }
  return { part, chosen }
}

/** @param {string} grantType */
const submitButton = (grantType) =>
  element(
    'button',
    { type: 'submit', class: 'primary' },
    grantType === 'authorization_code' ? 'Redeem the code' : 'Request a token',
  )

/**
 * Returns the fields that depend on the client and the grant, and what the user has entered in them.
 *
 * @param {ReturnType<ReturnType<typeof createGrantChoice>>} choice
 * @param {object} parts
 * @param {Setup} parts.setup
 * @param {Client | undefined} parts.client
 * @param {string} parts.clientId
 * @param {Session | undefined} parts.session
 * @param {() => void} parts.onFilled called when a sign-in has filled in a code
 */
function requestFields({ grantType, grant }, { setup, client, clientId, session, onFilled }) {
  const scopes = scopeBoxes(client?.scopes, grantType)
  const fields = grantFields(grant, setup, client, session)
  const more = freeFields(grant !== undefined && grant.fields === undefined)
  const signsIn = grantType === 'authorization_code' && setup.demo !== undefined
  const authorizationPath = setup.paths.authorization ?? ''
  const authorizationRequest = () => ({
    clientId,
    redirectUri: client?.redirectUris[0] ?? '',
    scope: scopes.chosen(),
  })
  const parts = [
    ...(grant?.scope !== 'ignored' || signsIn ? [scopes.part] : []),
    ...(signsIn ? codeSteps(fields, { authorizationPath, authorizationRequest, onFilled }) : fields.parts),
    more.part,
  ]

  /** @returns {(readonly [string, string])[]} */
  function chosen() {
    const scope = grant?.scope === 'ignored' ? '' : scopes.chosen()
    return [
      ['grant_type', grantType],
      ...(scope === '' ? [] : [/** @type {const} */ (['scope', scope])]),
      ...fields.chosen(),
      ...more.chosen(),
    ]
  }
  return { parts, chosen }
}

/**
 * Shows the form of a token request. It is rendered again when the client or the grant changes.
 *
 * @param {object} parts
 * @param {Setup} parts.setup
 * @param {() => Session | undefined} parts.session
 * @param {(client: Identity, call: Call) => Promise<unknown>} parts.sendForTokens
 * @param {() => void} parts.onClientChanged
 */
export function createRequestForm({ setup, session, sendForTokens, onClientChanged }) {
  const form = byId('request')
  const binding = keyBox(setup)
  const clientChoice = createClientChoice(setup, () => {
    onClientChanged()
    render()
    byId('client').focus()
  })
  const chooseGrant = createGrantChoice(setup, () => {
    render()
    byId('grant').focus()
  })

  function render() {
    const client = clientChoice.known()
    const { clientId } = clientChoice.chosen()
    const chosen = chooseGrant(client)
    const button = submitButton(chosen.grantType)
    const onFilled = () => button.focus()
    const fields = requestFields(chosen, { setup, client, clientId, session: session(), onFilled })
    const bindingParts = binding.part === undefined ? [] : [binding.part]
    const parts = [...clientChoice.fields(), chosen.part, ...fields.parts, ...bindingParts]
    // The button is outside of the part that scrolls.
    form.replaceChildren(element('div', { id: 'request-fields' }, ...parts), button)
    form.onsubmit = async (event) => {
      event.preventDefault()
      const who = clientChoice.chosen()
      const sent = fields.chosen()
      await sendForTokens(who, {
        title: `${grantLabel(chosen.grantType)}.`,
        method: 'POST',
        path: setup.paths.token ?? '',
        key: await binding.chosen(),
        ...clientAuthentication(who, sent),
      })
    }
  }

  render()
}
