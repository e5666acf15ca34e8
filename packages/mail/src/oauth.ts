import type { OAuthSettings } from './options.ts'

/** Characters of a response. */
const maxResponse = 65_536

/** An access token, and when it ends, in milliseconds since 1970. */
export interface MailToken {
  readonly accessToken: string
  readonly expires: number
}

const formOf = ({ clientId, clientSecret, refreshToken, scope }: OAuthSettings): URLSearchParams => {
  const grant =
    refreshToken === undefined
      ? { grant_type: 'client_credentials' }
      : { grant_type: 'refresh_token', refresh_token: refreshToken }
  const fields = { ...grant, client_id: clientId, client_secret: clientSecret, scope }
  return new URLSearchParams(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** An error that quotes nothing of the response, which could contain a token. */
const failed = (detail: string | number): Error =>
  Object.assign(new Error('no access token for the mail server'), { code: 'EOAUTH2', responseCode: `OAUTH2_${detail}` })

/**
 * Requests an access token for the mail server.
 *
 * @param timeout milliseconds
 * @throws Error without details of the response
 * @see RFC 6749 sections 4.4 and 6; Google and Microsoft document XOAUTH2 for SMTP
 */
export async function requestMailToken(settings: OAuthSettings, timeout: number): Promise<MailToken> {
  const response = await fetch(settings.tokenUrl, {
    method: 'POST',
    body: formOf(settings),
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(timeout),
  }).catch(() => {
    throw failed('UNREACHABLE')
  })
  const text = await response.text().catch(() => '')
  if (!response.ok || text.length > maxResponse) throw failed(response.status)
  let members: { readonly access_token?: unknown; readonly expires_in?: unknown } | null
  try {
    members = JSON.parse(text)
  } catch {
    throw failed('MALFORMED')
  }
  const { access_token: accessToken, expires_in: lifetime } = members ?? {}
  if (typeof accessToken !== 'string' || !/^[\x21-\x7e]+$/u.test(accessToken)) throw failed('MALFORMED')
  // A minute early, so that the token does not expire on its way. Without a lifetime, it is renewed when the server
  // refuses it.
  const expires = Number(lifetime) > 0 ? Date.now() + (Number(lifetime) - 60) * 1000 : 0
  return { accessToken, expires }
}
