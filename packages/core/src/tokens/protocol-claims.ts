/** Claims that the protocol defines. Plugins, user services and scopes cannot set them. */
const protocolClaims: ReadonlySet<string> = new Set([
  // RFC 7519, RFC 9068, OpenID Connect Core section 2
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'client_id',
  'scope',
  'auth_time',
  'acr',
  'amr',
  'azp',
  'nonce',
  'at_hash',
  'c_hash',
  's_hash',
  // RFC 7800, RFC 8693, OpenID Connect logout, RFC 7662
  'cnf',
  'act',
  'may_act',
  'sid',
  'active',
  'token_type',
  // Grantry: the identity provider (from the seed), the family, and the epochs
  'idp',
  'grant_id',
  'client_epoch',
  'sub_epoch',
])

export const isProtocolClaim = (name: string): boolean => protocolClaims.has(name) || name === '__proto__'
