import { asClient } from './session.js'

/** @import { Call } from './exchange.js' */
/** @import { Session } from './session.js' */
/** @import { Setup } from './setup.js' */

/**
 * One thing to do with the tokens at hand.
 *
 * @typedef {object} Action
 * @property {string} group
 * @property {string} label
 * @property {string} what
 * @property {string | false} missing why it cannot be done now
 * @property {() => Call} call
 * @property {'tokens' | 'introspection'} [yields]
 */

const noAccess = 'Needs an access token.'
const noRefresh = 'Needs a refresh token: ask for offline_access with a user.'
const noIdentity = 'Needs an identity token: redeem a code with openid.'
const notRefreshed = 'Needs a refresh before.'

/** @param {string | undefined} path */
const isOff = (path) => path === undefined && 'This endpoint is switched off here.'

/**
 * What a thief would send who does not know the first request to the letter: it names the scopes, or leaves them out.
 *
 * @param {Call | undefined} spent
 * @param {string} scope
 * @returns {readonly (readonly [string, string])[]}
 */
function asThief(spent, scope) {
  const form = spent?.form ?? []
  const rest = form.filter(([name]) => name !== 'scope')
  return rest.length < form.length ? rest : [...rest, ['scope', scope]]
}

/**
 * @param {Setup} setup
 * @param {Partial<Session>} session
 * @param {readonly [name: string, secret: string]} api who introspects
 * @returns {readonly Action[]}
 */
function questions({ paths }, { access = '', identity = '', client }, api) {
  return [
    {
      group: 'Ask about them',
      label: 'Introspect',
      what: 'As an API: is the access token valid, and what does it say?',
      missing: isOff(paths.introspection) || (access === '' && noAccess),
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
      group: 'Ask about them',
      label: 'Userinfo',
      what: 'As the client: what the server knows of the user. Needs the scope openid.',
      missing: isOff(paths.userinfo) || (access === '' && noAccess),
      call: () => ({
        title: 'Userinfo.',
        method: 'GET',
        path: paths.userinfo ?? '',
        bearer: access,
        success: 'this is what the scopes let the client know of the user.',
      }),
    },
    {
      group: 'Ask about them',
      label: 'Validate identity token',
      what: 'For clients without a JWT library: every claim comes back as text.',
      missing: isOff(paths.identityTokenValidation) || (identity === '' && noIdentity),
      call: () => ({
        title: 'Validate the identity token.',
        method: 'POST',
        path: paths.identityTokenValidation ?? '',
        form: [
          ['token', identity],
          ['client_id', client?.clientId ?? ''],
        ],
        success: 'it is valid, and for this client.',
      }),
    },
    {
      group: 'Ask about them',
      label: 'Validate access token',
      what: 'The old way, which answers anybody. Introspection is better.',
      missing: isOff(paths.accessTokenValidation) || (access === '' && noAccess),
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
function exchanges({ paths }, { refresh = '', client, spentCode, spentRefresh, scope = '' }) {
  const token = /** @type {const} */ ({ method: 'POST', path: paths.token ?? '' })
  const revoked = 'refused, as it should be, and its family is revoked: see the timeline.'
  return [
    {
      group: 'Go on with them',
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
      group: 'Go on with them',
      label: 'Send refresh again',
      what: 'After a lost answer: the same request within 10 seconds gets the same answer. Later it counts as a replay.',
      missing: spentRefresh === undefined && notRefreshed,
      call: () => ({ ...token, ...spentRefresh, title: 'The same refresh again.' }),
      yields: 'tokens',
    },
    {
      group: 'Attack them',
      label: 'Replay refresh token',
      what: 'As a thief: a used token in another request. The whole family is revoked.',
      missing: spentRefresh === undefined && notRefreshed,
      call: () => ({
        ...token,
        ...spentRefresh,
        title: 'Replay of a refresh token.',
        form: asThief(spentRefresh, scope),
        refusal: revoked,
      }),
    },
    {
      group: 'Attack them',
      label: 'Replay code',
      what: 'A code that comes twice was stolen. All that came from it is revoked.',
      missing: spentCode === undefined && 'Needs a code that was redeemed.',
      call: () => ({ ...token, ...spentCode, title: 'Replay of a code.', refusal: revoked }),
    },
  ]
}

/**
 * @param {Setup} setup
 * @param {Partial<Session>} session
 * @returns {readonly Action[]}
 */
function endings({ paths }, { access = '', refresh = '', client }) {
  const revocation = /** @type {const} */ ({ method: 'POST', path: paths.revocation ?? '' })
  return [
    {
      group: 'End them',
      label: 'Revoke access token',
      what: 'This one token is refused from now on.',
      missing: isOff(paths.revocation) || (access === '' && noAccess),
      call: () => ({
        title: 'Revoke the access token.',
        ...revocation,
        ...asClient(client, [['token', access]]),
        success: 'the server refuses it from now on. Introspect it to see.',
      }),
    },
    {
      group: 'End them',
      label: 'Revoke refresh token',
      what: 'As when the user signs out: the whole family is refused from now on.',
      missing: isOff(paths.revocation) || (refresh === '' && noRefresh),
      call: () => ({
        title: 'Revoke the refresh token.',
        ...revocation,
        ...asClient(client, [['token', refresh]]),
        success: 'the server refuses its whole family from now on.',
      }),
    },
  ]
}

/**
 * Everything that can be done with the tokens of a session, or could be if there were any.
 *
 * @param {Setup} setup
 * @param {Partial<Session>} session
 * @param {readonly [name: string, secret: string]} api who introspects
 */
export const actionsFor = (setup, session, api) => [
  ...questions(setup, session, api),
  ...exchanges(setup, session),
  ...endings(setup, session),
]
