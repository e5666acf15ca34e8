/** Names that the protocol itself gives a meaning in tokens. A plugin, a user or a scope never sets them. */
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
  // ours: the identity provider of the seed, the family, and after which revocations it began
  'idp',
  'grant_id',
  'client_epoch',
  'sub_epoch',
])

export const isProtocolClaim = (name: string): boolean => protocolClaims.has(name) || name === '__proto__'
