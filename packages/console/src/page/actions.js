import { clientAuthentication } from './session.js'

/** @import { Call } from './exchange.js' */
/** @import { Session } from './session.js' */
/** @import { Setup } from './setup.js' */

/**
 * An action with the current tokens.
 *
 * @typedef {object} Action
 * @property {string} group
 * @property {string} label
 * @property {string} what
 * @property {string | false} missing why it is not possible now
 * @property {() => Call} call
 * @property {'tokens' | 'introspection'} [yields]
 */

const noAccess = 'Needs an access token.'
const noRefresh = 'Needs a refresh token: request offline_access with a grant that has a user.'
const noIdentity = 'Needs an identity token: redeem a code with the scope openid.'
const notRefreshed = 'Refresh the tokens first.'
const notBound = 'Needs a bound access token: request one with DPoP.'

/** @param {string | undefined} path */
const disabledReason = (path) => path === undefined && 'This endpoint is disabled.'

/**
 * Returns the request of an attacker who does not know the exact original request: it adds or omits the scope.
 *
 * @param {Call | undefined} spent
 * @param {string} scope
 * @returns {readonly (readonly [string, string])[]}
 */
function attackerForm(spent, scope) {
  const form = spent?.form ?? []
  const rest = form.filter(([name]) => name !== 'scope')
  return rest.length < form.length ? rest : [...rest, ['scope', scope]]
}

/**
 * @param {Setup} setup
 * @param {Partial<Session>} session
 * @param {readonly [name: string, secret: string]} api the API that introspects
 * @returns {readonly Action[]}
 */
function checkActions({ paths }, { access = '', identity = '', client, key }, api) {
  return [
    {
      group: 'Check',
      label: 'Introspect',
      what: 'As an API: check whether the access token is valid, and read its claims.',
      missing: disabledReason(paths.introspection) || (access === '' && noAccess),
      call: () => ({
        title: 'Introspect.',
        method: 'POST',
        path: paths.introspection ?? '',
        credentials: api,
        form: [['token', access]],
      }),
      yields: 'introspection',
    },
    {
      group: 'Check',
      label: 'Userinfo',
      what: 'As the client: read the claims of the user. Needs the scope openid.',
      missing: disabledReason(paths.userinfo) || (access === '' && noAccess),
      call: () => ({
        title: 'Userinfo.',
        method: 'GET',
        path: paths.userinfo ?? '',
        accessToken: access,
        key,
        success: 'these are the claims of the user that the scopes allow.',
      }),
    },
    {
      group: 'Check',
      label: 'Validate identity token',
      what: 'For clients without a JWT library. All claims are returned as text.',
      missing: disabledReason(paths.identityTokenValidation) || (identity === '' && noIdentity),
      call: () => ({
        title: 'Validate the identity token.',
        method: 'POST',
        path: paths.identityTokenValidation ?? '',
        form: [
          ['token', identity],
          ['client_id', client?.clientId ?? ''],
        ],
        success: 'it is valid and was issued to this client.',
      }),
    },
    {
      group: 'Check',
      label: 'Validate access token',
      what:
        key === undefined
          ? 'A legacy endpoint without authentication. Introspection is better.'
          : 'A legacy endpoint without authentication. It refuses bound tokens, because it cannot check who has the key.',
      missing: disabledReason(paths.accessTokenValidation) || (access === '' && noAccess),
      call: () => ({
        title: 'Validate the access token.',
        method: 'POST',
        path: paths.accessTokenValidation ?? '',
        form: [['token', access]],
        success: 'it is valid.',
      }),
    },
  ]
}

/**
 * @param {Setup} setup
 * @param {Partial<Session>} session
 * @returns {readonly Action[]}
 */
function tokenActions({ paths }, { refresh = '', client, spentCode, spentRefresh, scope = '', key }) {
  const token = /** @type {const} */ ({ method: 'POST', path: paths.token ?? '' })
  const revoked = 'refused as expected. Its token family is revoked: see the timeline.'
  return [
    {
      group: 'Refresh',
      label: 'Refresh',
      what: 'Exchange the refresh token for new tokens.',
      missing: refresh === '' && noRefresh,
      call: () => ({
        title: 'Refresh.',
        ...token,
        key,
        ...clientAuthentication(client, [
          ['grant_type', 'refresh_token'],
          ['refresh_token', refresh],
        ]),
      }),
      yields: 'tokens',
    },
    {
      group: 'Refresh',
      label: 'Retry refresh',
      what: 'As if the response was lost: the same request gets the same response for 10 seconds. After that, it is a replay.',
      missing: spentRefresh === undefined && notRefreshed,
      call: () => ({ ...token, ...spentRefresh, title: 'Retry the refresh.' }),
      yields: 'tokens',
    },
    {
      group: 'Attack',
      label: 'Replay refresh token',
      what: 'As an attacker: use a spent refresh token in another request. The whole family is revoked.',
      missing: spentRefresh === undefined && notRefreshed,
      call: () => ({
        ...token,
        ...spentRefresh,
        title: 'Replay the refresh token.',
        form: attackerForm(spentRefresh, scope),
        refusal: revoked,
      }),
    },
    {
      group: 'Attack',
      label: 'Replay code',
      what: 'As an attacker: redeem the code a second time. All tokens issued for it are revoked.',
      missing: spentCode === undefined && 'Redeem a code first.',
      call: () => ({ ...token, ...spentCode, title: 'Replay the code.', refusal: revoked }),
    },
  ]
}

/**
 * @param {Setup} setup
 * @param {Partial<Session>} session
 * @returns {readonly Action[]}
 */
function bindingActions({ paths, dpopAlgorithms }, { access = '', key }) {
  if (dpopAlgorithms === undefined) return []
  return [
    {
      group: 'Attack',
      label: 'Use the token without its key',
      what: 'As a thief: send a bound access token to userinfo as a bearer token, without a proof.',
      missing: disabledReason(paths.userinfo) || (key === undefined && notBound),
      call: () => ({
        title: 'Use the token without its key.',
        method: 'GET',
        path: paths.userinfo ?? '',
        accessToken: access,
        refusal: 'refused as expected. Only a request with a proof of the key can use the token.',
      }),
    },
  ]
}

/**
 * @param {Setup} setup
 * @param {Partial<Session>} session
 * @returns {readonly Action[]}
 */
function revokeActions({ paths }, { access = '', refresh = '', client }) {
  const revocation = /** @type {const} */ ({ method: 'POST', path: paths.revocation ?? '' })
  return [
    {
      group: 'Revoke',
      label: 'Revoke access token',
      what: 'Revoke only this token.',
      missing: disabledReason(paths.revocation) || (access === '' && noAccess),
      call: () => ({
        title: 'Revoke the access token.',
        ...revocation,
        ...clientAuthentication(client, [['token', access]]),
        success: 'it is revoked. Introspect it to see the effect.',
      }),
    },
    {
      group: 'Revoke',
      label: 'Revoke refresh token',
      what: 'As when the user signs out: revoke the whole family.',
      missing: disabledReason(paths.revocation) || (refresh === '' && noRefresh),
      call: () => ({
        title: 'Revoke the refresh token.',
        ...revocation,
        ...clientAuthentication(client, [['token', refresh]]),
        success: 'its whole family is revoked.',
      }),
    },
  ]
}

/**
 * Returns all actions, including those that are not possible with the tokens of this session.
 *
 * @param {Setup} setup
 * @param {Partial<Session>} session
 * @param {readonly [name: string, secret: string]} api the API that introspects
 */
export const actionsFor = (setup, session, api) => [
  ...checkActions(setup, session, api),
  ...tokenActions(setup, session),
  ...bindingActions(setup, session),
  ...revokeActions(setup, session),
]
