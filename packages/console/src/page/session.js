/** @import { DpopKey } from './dpop.js' */
/** @import { ServerResponse, Call } from './exchange.js' */

/**
 * The latest tokens, their client and the requests that spent credentials for them. Kept in memory only.
 *
 * @typedef {object} Session
 * @property {Identity} client
 * @property {string} [access]
 * @property {string} [refresh]
 * @property {string} [identity]
 * @property {string} [scope] the granted scope
 * @property {DpopKey} [key] the key that the access token is bound to
 * @property {Call} [spentCode] the request that redeemed the code
 * @property {Call} [spentRefresh] the last request that redeemed a refresh token
 * @property {Record<string, unknown>} [introspected]
 *
 * @typedef {object} Identity
 * @property {string} clientId
 * @property {string} secret empty for a public client
 */

/**
 * Returns the client authentication: HTTP Basic, or `client_id` in the form if there is no secret.
 *
 * @param {Identity | undefined} client
 * @param {readonly (readonly [string, string])[]} form
 * @returns {Pick<Call, 'credentials' | 'form'>}
 */
export const clientAuthentication = ({ clientId, secret } = { clientId: '', secret: '' }, form) =>
  secret === '' ? { form: [...form, ['client_id', clientId]] } : { credentials: [clientId, secret], form }

/**
 * Returns the session after a token request, or the old session if the response contains no tokens.
 *
 * @param {Session | undefined} session
 * @param {Identity} client
 * @param {Call} call
 * @param {ServerResponse} response
 * @returns {Session | undefined}
 */
export function sessionAfter(session, client, call, { status, json }) {
  if (status !== 200 || typeof json?.access_token !== 'string') return session
  const grantType = call.form?.find(([name]) => name === 'grant_type')?.[1] ?? ''
  const spentCode =
    grantType === 'authorization_code' ? call : grantType === 'refresh_token' ? session?.spentCode : undefined
  return {
    client,
    access: json.access_token,
    ...(typeof json.refresh_token === 'string' && { refresh: json.refresh_token }),
    ...(typeof json.id_token === 'string' && { identity: json.id_token }),
    ...(typeof json.scope === 'string' && { scope: json.scope }),
    ...(json.token_type === 'DPoP' && call.key !== undefined && { key: call.key }),
    ...(spentCode !== undefined && { spentCode }),
    ...(grantType === 'refresh_token' && { spentRefresh: call }),
  }
}
