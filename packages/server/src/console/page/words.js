import { table } from './table.js'

const grants = table({
  client_credentials: ['Client credentials', 'A program asks for itself. There is no user, and no refresh token.'],
  password: [
    'Password',
    'The client has the user’s name and password. Old, and best avoided: the client sees the password.',
  ],
  authorization_code: [
    'Authorization code',
    'The user signs in at the server, the client gets a code, and redeems it here. The way for anything with users.',
  ],
  refresh_token: [
    'Refresh token',
    'The next tokens without the user. The refresh token is replaced by a new one each time.',
  ],
})

/** @param {string} grantType */
export const grantName = (grantType) => grants[grantType]?.[0] ?? grantType

/** @param {string} grantType */
export const grantMeaning = (grantType) => grants[grantType]?.[1] ?? 'A grant of a plugin. Its fields are below.'

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
export const scopeMeaning = (scope) => scopes[scope] ?? 'an API'

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
export const fieldName = (name) => fields[name] ?? name

const fieldMeanings = table({
  acr_values: 'How the user shall be asked, such as idp:NAME. May be left out.',
})

/**
 * @param {string} name
 * @param {boolean} required
 */
export const fieldMeaning = (name, required) =>
  fieldMeanings[name] ?? (required || fields[name] !== undefined ? undefined : 'May be left out.')

const errors = table({
  invalid_request: 'Something in the request is missing, double or malformed.',
  invalid_client: 'The client, or the API that asks, could not prove who it is.',
  invalid_grant:
    'What was presented is wrong, expired, revoked or was used before. The server does not say which, so that nobody can probe it.',
  unauthorized_client: 'This client may not use this grant type.',
  unsupported_grant_type: 'The server has no such grant type.',
  invalid_scope: 'A scope is unknown, missing, or not for this client or grant.',
  invalid_token: 'The token is not valid, or not any more.',
  insufficient_scope: 'The token is valid, and does not hold the scope.',
  access_denied: 'The user could not sign in.',
  slow_down: 'Too many wrong attempts. Wait as many seconds as the header retry-after says, then try again.',
  temporarily_unavailable: 'The server is busy or its storage out of reach. Try again.',
  server_error: 'The server failed. Its log says why.',
})

/** @param {string} code */
export const errorMeaning = (code) => errors[code] ?? 'The request was refused.'
