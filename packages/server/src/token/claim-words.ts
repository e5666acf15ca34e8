import { harmlessText } from '../harmless-text.ts'

/** What each claim means, in words. */
export const claimWords: Readonly<Record<string, string>> = {
  iss: 'who issued it',
  sub: 'whom it is about: the user, or without auth_time the client itself',
  aud: 'for whom it is: the API that may accept it, or of an identity token the client',
  exp: 'when it ends',
  nbf: 'before when it does not count',
  iat: 'when it was issued',
  jti: 'its name; what it is denied by when it is revoked',
  client_id: 'the client that got it',
  scope: 'what it is good for',
  auth_time: 'when the user logged in',
  idp: 'where the user logged in',
  amr: 'how the user logged in (RFC 8176)',
  acr: 'how strong the login was',
  nonce: 'what the client sent with the login, to recognise it',
  at_hash: 'which access token belongs to it',
  grant_id: 'its family: everything of one login; grantry revoke --family ends it',
  grant_type: 'the grant type that began its family',
  generation: 'how often it was rotated',
  client_epoch: 'after which revocation of the client it began',
  sub_epoch: 'after which revocation of the user it began',
}

const moments: ReadonlySet<string> = new Set(['exp', 'nbf', 'iat', 'auth_time'])

function distance(seconds: number): string {
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

/** One line for one claim. Neither control characters of a stranger's token reach the terminal, nor what turns the order of its text round. */
export function describeClaim(name: string, value: unknown, now: number): string {
  const isMoment = moments.has(name) && typeof value === 'number' && Math.abs(value) < 8.64e12
  const shown = isMoment
    ? `${new Date(value * 1000).toISOString()} (${distance(value - now)})`
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
  const meaning = Object.hasOwn(claimWords, name) ? `   # ${claimWords[name]}` : ''
  return harmlessText(`  ${name.padEnd(13)} ${shown}${meaning}`)
}

/** Why a token is not accepted, in words. */
export const reasonWords: Readonly<Record<string, string>> = {
  expired: 'it has ended',
  not_yet_valid: 'it does not count yet; do the clocks agree?',
  signature_invalid: 'its signature is not of a key of this server: nothing that it says is proved',
  issuer_mismatch: 'another server issued it',
  token_unknown: 'nobody knows it: it was never issued here, has ended long ago, or was revoked',
  token_not_ours: 'it lacks what a token of this server has',
  wrong_audience: 'it is for an API that its scopes are not for today',
  client_disabled: 'its client is disabled, or configured no more',
  family_revoked: 'its family was revoked',
  token_revoked: 'it was revoked by itself',
  client_revoked: 'everything of its client was revoked after it began',
  subject_revoked: 'everything of its user was revoked after it began',
  user_inactive: 'its user is not active',
  spent: 'it was used already',
}
