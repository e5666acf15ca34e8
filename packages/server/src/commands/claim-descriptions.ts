import { sanitizeText } from '../sanitize-text.ts'

/** Short explanations of claims. */
export const claimDescriptions: Readonly<Record<string, string>> = {
  iss: 'the issuer',
  sub: 'the subject: the user, or the client itself if there is no auth_time',
  aud: 'the audience: the API that may accept it, or for an identity token the client',
  exp: 'when it expires',
  nbf: 'when it becomes valid',
  iat: 'when it was issued',
  jti: 'its unique id, by which it is revoked',
  client_id: 'the client that requested it',
  scope: 'what it allows',
  auth_time: 'when the user logged in',
  idp: 'where the user logged in',
  amr: 'how the user logged in (RFC 8176)',
  acr: 'the assurance level of the login',
  nonce: 'the value that the client sent with the authorization request',
  at_hash: 'the hash of the access token issued with it',
  cnf: 'the key that must be proved to use it (RFC 7800)',
  grant_id: 'its family: all tokens from one login; revoke with grantry revoke --family',
  txn: 'of an identity token: its family, as in grant_id',
  grant_type: 'the grant type that started its family',
  generation: 'how often it was rotated',
  client_epoch: 'changes when everything of the client is revoked',
  sub_epoch: 'changes when everything of the user is revoked',
  withdrawal_epoch: 'changes when the user withdraws the access of the client',
  origin_epochs:
    'the clients whose tokens it was exchanged for: it ends when one is revoked, or loses the access of the user',
}

const timeClaims: ReadonlySet<string> = new Set(['exp', 'nbf', 'iat', 'auth_time'])

function relativeTime(seconds: number): string {
  const size = Math.abs(seconds)
  const [amount, unit] =
    size < 120
      ? [size, 's']
      : size < 7200
        ? [Math.round(size / 60), 'min']
        : size < 172_800
          ? [Math.round(size / 3600), 'h']
          : [Math.round(size / 86_400), 'days']
  return seconds < 0 ? `${amount} ${unit} ago` : `in ${amount} ${unit}`
}

/** Formats a claim on one line, without control characters or bidirectional overrides from an untrusted token. */
export function describeClaim(name: string, value: unknown, now: number): string {
  const isTime = timeClaims.has(name) && typeof value === 'number' && Math.abs(value) < 8.64e12
  const shown = isTime
    ? `${new Date(value * 1000).toISOString()} (${relativeTime(value - now)})`
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
  const meaning = Object.hasOwn(claimDescriptions, name) ? `   # ${claimDescriptions[name]}` : ''
  return sanitizeText(`  ${name.padEnd(13)} ${shown}${meaning}`)
}

/** Explanations of the reasons for which a token is not accepted. */
export const reasonDescriptions: Readonly<Record<string, string>> = {
  expired: 'it has expired',
  not_yet_valid: 'it is not valid yet; are the clocks in sync?',
  signature_invalid: 'it was not signed with a key of this server, so none of its claims can be trusted',
  issuer_mismatch: 'it was issued by another server',
  token_unknown: 'it is unknown: never issued here, expired long ago, or revoked',
  token_not_ours: 'it lacks claims that every token of this server has',
  wrong_audience: 'its audience does not match the current audience of its scopes',
  binding_unknown: 'it is bound to a key that no installed plugin can verify',
  client_disabled: 'its client is disabled or no longer configured',
  family_revoked: 'its family was revoked',
  token_revoked: 'it was revoked individually',
  client_revoked: 'everything of its client was revoked after it was issued',
  subject_revoked: 'everything of its user was revoked after it was issued',
  access_withdrawn: 'its user has withdrawn the access of its client after it was issued',
  user_inactive: 'its user is inactive',
  spent: 'it has already been used',
}
