import { table } from './table.js'

const grants = table({
  client_credentials: [
    'Client credentials',
    'For a program that acts on its own behalf, without a user. There is no refresh token.',
  ],
  password: [
    'Password',
    'The client sends the user name and password. Deprecated, because the client sees the password.',
  ],
  authorization_code: [
    'Authorization code',
    'The user signs in at the server. The client gets a code and redeems it for tokens. Recommended for all clients with users.',
  ],
  refresh_token: ['Refresh token', 'New tokens without the user. Each use replaces the refresh token.'],
})

/** @param {string} grantType */
export const grantLabel = (grantType) => grants[grantType]?.[0] ?? grantType

/** @param {string} grantType */
export const grantDescription = (grantType) => grants[grantType]?.[1] ?? 'A custom grant from a plugin.'

const scopes = table({
  openid: 'who the user is',
  profile: 'the user’s name',
  email: 'the e-mail address',
  address: 'the postal address',
  phone: 'the telephone number',
  roles: 'the user’s roles',
  offline_access: 'a refresh token',
})

/** @param {string} scope */
export const scopeDescription = (scope) => scopes[scope] ?? 'an API'

const fields = table({
  username: 'User name',
  password: 'Password',
  acr_values: 'Authentication (acr_values)',
  code: 'Code',
  redirect_uri: 'Redirect URI',
  code_verifier: 'Proof key (code_verifier)',
  refresh_token: 'Refresh token',
})

/** @param {string} name */
export const fieldLabel = (name) => fields[name] ?? name

const fieldMeanings = table({
  acr_values: 'How the user should authenticate, such as idp:NAME. Optional.',
})

/**
 * @param {string} name
 * @param {boolean} required
 */
export const fieldDescription = (name, required) =>
  fieldMeanings[name] ?? (required || fields[name] !== undefined ? undefined : 'Optional.')

const errors = table({
  invalid_request: 'A parameter is missing, repeated or malformed.',
  invalid_client: 'The client or API could not be authenticated.',
  invalid_grant:
    'The code, token or password is wrong, expired, revoked or spent. The server does not say which, so that attackers cannot probe it.',
  unauthorized_client: 'This client may not use this grant type.',
  unsupported_grant_type: 'The server does not support this grant type.',
  invalid_scope: 'A scope is unknown, missing, or not allowed for this client or grant.',
  invalid_token: 'The token is invalid, expired or revoked.',
  insufficient_scope: 'The token is valid, but does not have the scope.',
  invalid_dpop_proof: 'The DPoP proof is malformed, too old, already used, or for another request.',
  use_dpop_nonce: 'The DPoP proof must contain the nonce in the dpop-nonce header.',
  access_denied: 'The user could not sign in.',
  slow_down: 'Too many failed attempts. Wait for the number of seconds in the retry-after header, then try again.',
  temporarily_unavailable: 'The server is busy, or its storage is unavailable. Try again.',
  server_error: 'The server failed. See its log for the reason.',
})

/** @param {string} code */
export const errorDescription = (code) => errors[code] ?? 'The request was refused.'
