import { table } from './table.js'
import { inWords } from './times.js'

const meanings = table({
  iss: 'Issuer: the server that made it',
  sub: 'Subject: the user, by an identifier that never changes; without auth_time the client itself',
  aud: 'Audience: who it is for. Anybody else must refuse it',
  exp: 'Expires: from then on it is refused',
  iat: 'Issued at',
  nbf: 'Not before: until then it is refused',
  jti: 'Its own identifier',
  client_id: 'The client that it was issued to',
  scope: 'What it allows',
  auth_time: 'When the user signed in',
  amr: 'How the user signed in',
  acr: 'How strongly the user signed in',
  idp: 'Where the user signed in',
  nonce: 'Ties it to the client’s own request',
  azp: 'The client that it was issued to',
  at_hash: 'Ties it to the access token of the same answer',
  grant_id: 'The family: all tokens of one sign-in share it',
  client_epoch: 'After which revocation of the client it began',
  sub_epoch: 'After which revocation of the user it began',
  sid: 'The session',
  active: 'Whether the server accepts it now',
  token_type: 'How to send it',
  name: 'The user’s name',
  given_name: 'First name',
  family_name: 'Last name',
  email: 'E-mail address',
  role: 'The user’s roles',
  typ: 'Type: what kind of JWT it is',
  alg: 'Algorithm of the signature',
  kid: 'Which of the server’s keys signed it',
})

const times = new Set(['exp', 'iat', 'nbf', 'auth_time'])

const values = table({
  'typ at+jwt': 'an access token (RFC 9068)',
  'typ JWT': 'a JWT; here an identity token',
  'alg ES256': 'ECDSA with P-256 and SHA-256',
  'alg RS256': 'RSA with SHA-256',
  'alg PS256': 'RSA-PSS with SHA-256',
  'alg EdDSA': 'Ed25519',
  'amr pwd': 'with a password',
})

/**
 * A claim as text, and in words where the value alone says little.
 *
 * @param {string} name
 * @param {unknown} value
 */
export function explainClaim(name, value) {
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  const only = Array.isArray(value) && value.length === 1 ? value[0] : value
  const words = times.has(name) && typeof value === 'number' ? inWords(value) : values[`${name} ${only}`]
  return { shown, words, meaning: meanings[name] ?? 'A claim of your own' }
}
