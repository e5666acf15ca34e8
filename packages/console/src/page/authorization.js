import { createDpopKey } from './dpop.js'
import { exchange } from './exchange.js'
import { decodeJwt } from './jwt.js'
import { storedKeyPair } from './key-store.js'
import { rememberSignIn, takeSignIn } from './pending-sign-in.js'
import { createProofKey } from './proof-key.js'

/** @import { DpopKey } from './dpop.js' */
/** @import { PendingSignIn } from './pending-sign-in.js' */
/** @import { AdministrationSetup } from './setup.js' */

/**
 * A user who is signed in. In memory only: after a reload the session at the server signs the user in again.
 *
 * @typedef {object} SignedIn
 * @property {string} accessToken
 * @property {DpopKey} key the key that the token is bound to
 * @property {number} expiresAt milliseconds since the epoch
 * @property {string} sub
 * @property {PendingSignIn} pending what the tab has remembered
 *
 * Why no user is signed in.
 * @typedef {object} NotSignedIn
 * @property {'foreign_response' | 'sign_in_needed' | 'refused' | 'none'} outcome
 * @property {string} [error] the error code
 * @property {PendingSignIn} [pending]
 */

/** Errors of a silent request that the user can solve on the pages of the server. */
const needsUser = ['login_required', 'interaction_required', 'consent_required', 'account_selection_required']

/**
 * Pushes an authorization request (RFC 9126). Returns the parameters that refer to it; if it was refused, the request
 * itself, so that the authorization endpoint explains it.
 *
 * @param {AdministrationSetup['paths']} paths
 * @param {URLSearchParams} parameters
 */
async function pushed(paths, parameters) {
  const path = paths.pushedAuthorization ?? ''
  const { json } = await exchange({ title: '', method: 'POST', path, form: [...parameters] })
  if (typeof json?.request_uri !== 'string') return parameters
  return new URLSearchParams({ client_id: parameters.get('client_id') ?? '', request_uri: json.request_uri })
}

/**
 * Leaves the page for the authorization endpoint.
 *
 * @param {AdministrationSetup} setup
 * @param {object} options
 * @param {'none' | 'login' | 'select_account'} [options.prompt]
 * @param {string} [options.sub] who was signed in before
 * @param {string} [options.reason] what the page says afterwards
 * @param {Record<string, unknown> | undefined} [options.drafts] what the user has typed, by the fragments of the pages
 */
export async function beginSignIn({ issuer, paths, administration }, { prompt, sub, reason, drafts } = {}) {
  const { clientId, redirectUri, scope } = administration
  const [{ thumbprint }, { verifier, challenge }, { verifier: state }] = await Promise.all([
    createDpopKey(issuer, await storedKeyPair()),
    createProofKey(),
    createProofKey(),
  ])
  rememberSignIn({
    state,
    verifier,
    hash: location.hash,
    silent: prompt === 'none',
    ...(sub !== undefined && { sub }),
    ...(reason !== undefined && { reason }),
    ...(drafts !== undefined && { drafts }),
  })
  const parameters = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    // RFC 9449 section 10: only this key can redeem the code.
    dpop_jkt: thumbprint,
    ...(prompt !== undefined && { prompt }),
  })
  const query = administration.mustPush ? await pushed(paths, parameters) : parameters
  location.replace(`${paths.authorization}?${query}`)
  // The page is being left: nothing after it should run.
  return new Promise(() => {})
}

/**
 * @param {AdministrationSetup} setup
 * @param {string} code
 * @param {PendingSignIn} pending
 * @returns {Promise<SignedIn | NotSignedIn>}
 */
async function redeem({ issuer, paths, administration }, code, pending) {
  const key = await createDpopKey(issuer, await storedKeyPair())
  const started = Date.now()
  const { status, json } = await exchange({
    title: '',
    method: 'POST',
    path: paths.token ?? '',
    key,
    form: [
      ['grant_type', 'authorization_code'],
      ['code', code],
      ['redirect_uri', administration.redirectUri],
      ['code_verifier', pending.verifier],
      ['client_id', administration.clientId],
    ],
  })
  // Never without the key: a bearer token of an administrator is worth stealing.
  if (status !== 200 || json?.token_type !== 'DPoP' || typeof json.access_token !== 'string') {
    return { outcome: 'refused', error: typeof json?.error === 'string' ? json.error : 'no_response', pending }
  }
  const { sub = '' } = decodeJwt(String(json.id_token))?.claims ?? {}
  const expiresAt = started + 1000 * Number(json.expires_in)
  return { accessToken: json.access_token, key, expiresAt, sub: String(sub), pending }
}

/**
 * Completes a sign-in if the address contains the response of the server, which is then removed from it.
 *
 * @param {AdministrationSetup} setup
 * @returns {Promise<SignedIn | NotSignedIn>}
 */
export async function completeSignIn(setup) {
  const response = new URLSearchParams(location.search)
  const pending = takeSignIn()
  if (!response.has('state')) {
    if (location.search !== '') history.replaceState(null, '', `${location.pathname}${location.hash}`)
    return { outcome: 'none' }
  }
  history.replaceState(null, '', `${location.pathname}${pending?.hash ?? ''}`)
  const isOwn = pending?.state === response.get('state') && response.get('iss') === setup.issuer
  // The response of an attacker would sign the user in as the attacker.
  if (pending === undefined || !isOwn) return { outcome: 'foreign_response' }
  const error = response.get('error')
  if (error !== null) {
    const outcome = pending.silent && needsUser.includes(error) ? 'sign_in_needed' : 'refused'
    return { outcome, error, pending }
  }
  return redeem(setup, response.get('code') ?? '', pending)
}

/**
 * Ends the access token.
 *
 * @param {AdministrationSetup} setup
 * @param {SignedIn} signedIn
 */
export const revokeToken = ({ paths, administration: { clientId } }, { accessToken, key }) =>
  exchange({
    title: '',
    method: 'POST',
    path: paths.revocation ?? '',
    key,
    form: [
      ['token', accessToken],
      ['client_id', clientId],
    ],
  })

/**
 * Ends the access token and leaves for the page that ends the session.
 *
 * @param {AdministrationSetup} setup
 * @param {SignedIn} signedIn
 */
export async function signOut(setup, signedIn) {
  const { paths, administration } = setup
  await revokeToken(setup, signedIn)
  const parameters = new URLSearchParams({
    client_id: administration.clientId,
    post_logout_redirect_uri: administration.redirectUri,
  })
  location.assign(`${paths.endSession}?${parameters}`)
}
