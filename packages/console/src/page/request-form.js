import { byId, choice, element, field, textInput } from './elements.js'
import { freeFields } from './free-fields.js'
import { keyBox } from './key-box.js'
import { fieldDescription, fieldLabel, grantDescription, grantLabel } from './labels.js'
import { scopeBoxes } from './scope-boxes.js'
import { clientAuthentication } from './session.js'
import { signIn } from './sign-in.js'

/** @import { Call } from './exchange.js' */
/** @import { Session, Identity } from './session.js' */
/** @import { Setup, Client, Grant } from './setup.js' */

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
  const { demo } = setup
  let clientId = setup.clients[0]?.clientId ?? ''
  let grantType = ''
  let secret = demo?.clients[clientId] ?? ''

  const client = () => setup.clients.find((known) => known.clientId === clientId)

  /** @param {Client | undefined} known */
  const grantsOf = (known) =>
    setup.grants.filter((grant) => known === undefined || known.grantTypes.includes(grant.grantType))

  function clientFields() {
    const known = client()
    const names = setup.clients.map(
      ({ clientId, public: isPublic }) =>
        /** @type {const} */ ([clientId, isPublic ? `${clientId} (public)` : clientId]),
    )
    const who = names.length > 0 ? choice('client', names, clientId) : textInput('client', clientId)
    who.addEventListener('change', () => {
      clientId = who.value
      secret = demo?.clients[clientId] ?? ''
      onClientChanged()
      render('client')
    })
    const own = textInput('secret', secret, demo === undefined ? { type: 'password' } : {})
    own.addEventListener('input', () => {
      secret = own.value
    })
    const hint =
      demo === undefined
        ? 'Kept in the memory of this page only. Leave it empty for a public client.'
        : 'Filled in, because the secrets of the demo are public.'
    return [
      field(
        'Client',
        who,
        known?.public
          ? 'The program that requests the token. This one runs on the user’s device, so it has no secret.'
          : 'The program that requests the token.',
      ),
      known?.public ? undefined : field('Client secret', own, hint),
    ]
  }

  /**
   * Returns the initial value of a field: from the demo, or from the session.
   *
   * @param {string} name
   */
  function prefilled(name) {
    if (name === 'refresh_token') return session()?.refresh ?? ''
    if (name === 'redirect_uri') return client()?.redirectUris[0] ?? ''
    const user = demo?.users[0]
    if (name === 'username' || name === 'password') return user?.[name] ?? ''
    return demo?.fields[name] ?? ''
  }

  /** @param {Grant | undefined} grant */
  function grantFields(grant) {
    const inputs = (grant?.fields ?? []).map(({ name, required }) => {
      const secretField = name === 'password' && demo === undefined
      const input = textInput(`field-${name}`, prefilled(name), { name, ...(secretField && { type: 'password' }) })
      return { input, part: field(fieldLabel(name), input, fieldDescription(name, required)) }
    })
    return { inputs: inputs.map(({ input }) => input), parts: inputs.map(({ part }) => part) }
  }

  /** @param {string} [focused] the `id` of the element that keeps the focus */
  function render(focused) {
    const known = client()
    const offered = grantsOf(known)
    if (!offered.some((grant) => grant.grantType === grantType)) grantType = offered[0]?.grantType ?? ''
    const grant = offered.find((one) => one.grantType === grantType)
    const isCode = grantType === 'authorization_code'
    const kind = choice(
      'grant',
      offered.map((one) => [one.grantType, grantLabel(one.grantType)]),
      grantType,
    )
    kind.addEventListener('change', () => {
      grantType = kind.value
      render('grant')
    })
    const scopes = scopeBoxes(known?.scopes, grantType)
    const fields = grantFields(grant)
    const more = freeFields(grant !== undefined && grant.fields === undefined)
    const hasScopes = grant?.scope !== 'ignored' || (isCode && demo !== undefined)

    const ownFields =
      isCode && demo !== undefined
        ? [
            signIn({
              authorizationPath: setup.paths.authorization ?? '',
              authorizationRequest: () => ({
                clientId,
                redirectUri: known?.redirectUris[0] ?? '',
                scope: scopes.chosen(),
              }),
              onCode: (values) => {
                for (const input of fields.inputs) input.value = values[input.name] ?? input.value
                button.focus()
              },
            }),
            element('fieldset', {}, element('legend', {}, '2. Redeem the code'), ...fields.parts),
          ]
        : fields.parts

    const button = element(
      'button',
      { type: 'submit', class: 'primary' },
      isCode ? 'Redeem the code' : 'Request a token',
    )
    // The button is outside of the part that scrolls.
    form.replaceChildren(
      element(
        'div',
        { id: 'request-fields' },
        ...clientFields().filter((part) => part !== undefined),
        field('Grant type', kind, `How the client gets a token. ${grantDescription(grantType)}`),
        ...(hasScopes ? [scopes.part] : []),
        ...ownFields,
        more.part,
        ...(binding.part === undefined ? [] : [binding.part]),
      ),
      button,
    )
    form.onsubmit = async (event) => {
      event.preventDefault()
      const scope = grant?.scope === 'ignored' ? '' : scopes.chosen()
      /** @type {(readonly [string, string])[]} */
      const sent = [
        ['grant_type', grantType],
        ...(scope === '' ? [] : [/** @type {const} */ (['scope', scope])]),
        ...fields.inputs
          .filter((input) => input.value !== '')
          .map((input) => /** @type {const} */ ([input.name, input.value])),
        ...more.chosen(),
      ]
      const who = { clientId, secret: known?.public ? '' : secret }
      const title = `${grantLabel(grantType)}.`
      await sendForTokens(who, {
        title,
        method: 'POST',
        path: setup.paths.token ?? '',
        key: await binding.chosen(),
        ...clientAuthentication(who, sent),
      })
    }
    if (focused !== undefined) byId(focused).focus()
  }

  render()
}
