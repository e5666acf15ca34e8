import { table } from './table.js'
import { describeTime } from './times.js'

const meanings = table({
  iss: 'Issuer: the server that issued the token',
  sub: 'Subject: the permanent id of the user, or the client itself if there is no auth_time',
  aud: 'Audience: who may accept the token. All others must reject it',
  exp: 'Expires: the token is rejected from then on',
  iat: 'Issued at',
  nbf: 'Not before: the token is rejected until then',
  jti: 'The unique id of the token',
  client_id: 'The client that the token was issued to',
  scope: 'What the token allows',
  auth_time: 'When the user signed in',
  amr: 'How the user signed in',
  acr: 'How strongly the user signed in',
  idp: 'Where the user signed in',
  nonce: 'Binds the token to the client’s authorization request',
  azp: 'The client that the token was issued to',
  at_hash: 'Binds the token to the access token in the same response',
  grant_id: 'The family: all tokens from one sign-in have the same value',
  txn: 'In identity tokens, the family',
  client_epoch: 'Changes when everything of the client is revoked',
  sub_epoch: 'Changes when everything of the user is revoked',
  withdrawal_epoch: 'Changes when the user withdraws the access of the client',
  origin_epochs:
    'The clients whose tokens it was exchanged for: it ends when one is revoked, or loses the access of the user',
  sid: 'The id of the session',
  cnf: 'The token is bound to the key with this thumbprint: each request with the token must prove the key',
  active: 'Whether the server accepts the token',
  token_type: 'How to send the token',
  name: 'The user’s name',
  given_name: 'First name',
  family_name: 'Last name',
  email: 'E-mail address',
  role: 'The user’s roles',
  typ: 'The type of JWT',
  alg: 'The signature algorithm',
  kid: 'The id of the server’s key that signed the token',
})

/** Meanings in a DPoP proof that differ from those in a token. */
const inProof = table({
  jti: 'The unique id of the proof: the server accepts it once',
  htm: 'The method of the request',
  htu: 'The URL of the request, without its query',
  iat: 'Signed at: the server refuses a proof that is too old',
  ath: 'The SHA-256 of the access token that the request presents',
  nonce: 'A value of the server: the proof cannot have been signed before the server sent it',
  jwk: 'The public key that verifies the signature. The private key never leaves the browser',
})

const ofKey = table({
  kty: 'The type of key',
  crv: 'The curve',
  x: 'The first coordinate of the public key',
  y: 'The second coordinate of the public key',
  jkt: 'The SHA-256 of the public key. A bound token contains it in cnf',
})

const inOthers = table({ proof: inProof, key: ofKey })

const times = new Set(['exp', 'iat', 'nbf', 'auth_time'])

const values = table({
  'typ at+jwt': 'an access token (RFC 9068)',
  'typ JWT': 'a JWT; here an identity token',
  'typ dpop+jwt': 'a DPoP proof (RFC 9449)',
  'token_type DPoP': 'with a proof of the key for each request',
  'kty EC': 'elliptic curve',
  'alg ES256': 'ECDSA with P-256 and SHA-256',
  'alg RS256': 'RSA with SHA-256',
  'alg PS256': 'RSA-PSS with SHA-256',
  'alg EdDSA': 'Ed25519',
  'amr pwd': 'with a password',
})

/**
 * Returns a claim as text, its meaning, and an explanation of values such as times and algorithms.
 *
 * @param {string} name
 * @param {unknown} value
 * @param {'token' | 'proof' | 'key'} [of]
 */
export function explainClaim(name, value, of = 'token') {
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  const only = Array.isArray(value) && value.length === 1 ? value[0] : value
  const words = times.has(name) && typeof value === 'number' ? describeTime(value) : values[`${name} ${only}`]
  return { shown, words, meaning: inOthers[of]?.[name] ?? meanings[name] ?? 'A custom claim' }
}
