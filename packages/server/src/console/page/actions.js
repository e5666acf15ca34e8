import { byId, choice, element, field, textInput } from './elements.js'
import { asClient } from './session.js'

/** @import { Call } from './exchange.js' */
/** @import { Session } from './session.js' */
/** @import { Setup } from './setup.js' */

/**
 * One thing to do with the tokens at hand.
 *
 * @typedef {object} Action
 * @property {string} label
 * @property {string} what
 * @property {string | false} missing why it cannot be done now
 * @property {() => Call} call
 * @property {'tokens' | 'introspection'} [yields]
 */

const noAccess = 'There is no access token yet.'
const noRefresh = 'There is no refresh token: ask for offline_access, with a grant that has a user.'
const noIdentity = 'There is no identity token: ask for openid, with a code or a refresh token of one.'

/**
 * The same request with a difference that a thief would make without knowing: it names the scopes, or leaves them out.
 *
 * @param {Call | undefined} spent
 * @param {string} scope
 * @returns {readonly (readonly [string, string])[]}
 */
function asThief({ form = [] } = /** @type {Call} */ ({}), scope) {
  const rest = form.filter(([name]) => name !== 'scope')
  return rest.length < form.length ? rest : [...rest, ['scope', scope]]
}

/**
 * @param {Setup} setup
 * @param {Session | undefined} session
 * @param {readonly [string, string]} api who introspects
 * @returns {readonly Action[]}
 */
function actionsFor({ paths }, session, api) {
  const client = session?.client ?? { clientId: '', secret: '' }
  const access = session?.access ?? ''
  const refresh = session?.refresh ?? ''
  const identity = session?.identity ?? ''
  const { spentRefresh, spentCode, scope = '' } = session ?? /** @type {Partial<Session>} */ ({})
  const post = /** @type {const} */ ('POST')
  const token = { method: post, path: paths.token ?? '' }
  const revocation = { method: post, path: paths.revocation ?? '' }
  /** @param {string | undefined} path */
  const off = (path) => (path === undefined ? 'This endpoint is switched off here.' : false)

  return [
    {
      label: 'Introspect',
      what: 'As an API: ask the server whether the access token is valid, and what it says.',
      missing: off(paths.introspection) || (access === '' && noAccess),
      call: () => ({
        title: 'Introspect.',
        method: post,
        path: paths.introspection ?? '',
        credentials: api,
        form: [['token', access]],
      }),
      yields: 'introspection',
    },
    {
      label: 'Userinfo',
      what: 'As the client: read the claims of the user. It needs the scope openid.',
      missing: off(paths.userinfo) || (access === '' && noAccess),
      call: () => ({ title: 'Userinfo.', method: 'GET', path: paths.userinfo ?? '', bearer: access }),
    },
    {
      label: 'Validate the identity token',
      what: 'For clients without a JWT library: every claim comes back as text.',
      missing: off(paths.identityTokenValidation) || (identity === '' && noIdentity),
      call: () => ({
        title: 'Validate the identity token.',
        method: post,
        path: paths.identityTokenValidation ?? '',
        form: [
          ['token', identity],
          ['client_id', client.clientId],
        ],
      }),
    },
    {
      label: 'Validate the access token',
      what: 'The old way, which answers anybody. Introspection is better.',
      missing: off(paths.accessTokenValidation) || (access === '' && noAccess),
      call: () => ({
        title: 'Validate the access token.',
        method: post,
        path: paths.accessTokenValidation ?? '',
        form: [['token', access]],
      }),
    },
    {
      label: 'Refresh',
      what: 'Exchange the refresh token for the next tokens.',
      missing: refresh === '' && noRefresh,
      call: () => ({
        title: 'Refresh.',
        ...token,
        ...asClient(client, [
          ['grant_type', 'refresh_token'],
          ['refresh_token', refresh],
        ]),
      }),
      yields: 'tokens',
    },
    {
      label: 'Send the refresh again',
      what: 'As after a broken connection: the very same request within 10 seconds gets the very same answer. Later, it counts as a replay.',
      missing: spentRefresh === undefined && 'Refresh first.',
      call: () => ({ ...token, ...spentRefresh, title: 'The same refresh again.' }),
      yields: 'tokens',
    },
    {
      label: 'Replay the used refresh token',
      what: 'As a thief: the used token in another request. The server refuses it, and revokes the whole family.',
      missing: spentRefresh === undefined && 'Refresh first.',
      call: () => ({
        ...token,
        ...spentRefresh,
        title: 'Replay of a refresh token.',
        form: asThief(spentRefresh, scope),
      }),
    },
    {
      label: 'Replay the used code',
      what: 'A code that is redeemed twice was stolen: everything that came from it is revoked.',
      missing: spentCode === undefined && 'Redeem a code first.',
      call: () => ({ ...token, ...spentCode, title: 'Replay of a code.' }),
    },
    {
      label: 'Revoke the access token',
      what: 'Refuse this one token from now on.',
      missing: off(paths.revocation) || (access === '' && noAccess),
      call: () => ({ title: 'Revoke the access token.', ...revocation, ...asClient(client, [['token', access]]) }),
    },
    {
      label: 'Revoke the refresh token',
      what: 'Sign out: the whole family is refused from now on.',
      missing: off(paths.revocation) || (refresh === '' && noRefresh),
      call: () => ({ title: 'Revoke the refresh token.', ...revocation, ...asClient(client, [['token', refresh]]) }),
    },
  ]
}

/**
 * @param {Setup} setup
 * @param {(action: Action) => unknown} run
 */
export function createActions(setup, run) {
  const { apis, demo } = setup
  const [first = ''] = apis
  const api =
    apis.length > 0
      ? choice(
          'api',
          apis.map((name) => [name, name]),
          first,
        )
      : textInput('api', '')
  const secret = textInput('api-secret', demo?.apis[first] ?? '', demo === undefined ? { type: 'password' } : {})
  api.addEventListener('change', () => {
    secret.value = demo?.apis[api.value] ?? ''
  })
  const list = element('ul', { class: 'actions' })
  byId('actions').replaceChildren(
    list,
    element(
      'fieldset',
      {},
      element('legend', {}, 'Which API introspects'),
      element('div', { class: 'pair' }, field('API (its scope)', api), field('Secret of the API', secret)),
    ),
  )

  /** @param {Session | undefined} session */
  return function showActions(session) {
    const labels = actionsFor(setup, session, ['', '']).map(({ label, what, missing }, index) => {
      const hint = `action-${index}`
      const press = () => {
        const action = actionsFor(setup, session, [api.value, secret.value])[index]
        if (action !== undefined) run(action)
      }
      return element(
        'li',
        { class: missing ? 'action off' : 'action' },
        element(
          'button',
          { type: 'button', disabled: Boolean(missing), 'aria-describedby': hint, onclick: press },
          label,
        ),
        element('p', { class: 'hint', id: hint }, missing || what),
      )
    })
    list.replaceChildren(...labels)
  }
}
