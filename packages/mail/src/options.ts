// The schema of the options, without the library.
import { configurationObject, isLoopbackHost, type OptionsOf, parseUrl } from '@grantry/core'
import * as v from 'valibot'

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

const isServer = (text: string): boolean => {
  const url = parseUrl(text)
  return (
    url !== undefined &&
    isDecodable(url.username) &&
    isDecodable(url.password) &&
    /^smtps?:$/u.test(url.protocol) &&
    url.hostname !== '' &&
    /^\/?$/u.test(url.pathname) &&
    url.search === '' &&
    url.hash === ''
  )
}

const credential = v.pipe(
  v.string('must be a string'),
  v.nonEmpty('must not be empty'),
  v.maxLength(2000, 'must have at most 2000 characters'),
  v.check((text) => !/[\0\r\n]/u.test(text), 'must not contain a line break'),
)

const isTokenUrl = (text: string): boolean => {
  const url = parseUrl(text)
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackHost(url.hostname))
}

/** How access tokens for the mail server are requested (RFC 6749 sections 4.4 and 6). */
const oauthSchema = configurationObject({
  tokenUrl: v.pipe(
    v.string('must be a URL'),
    v.check(isTokenUrl, 'must be an https URL, such as https://oauth2.googleapis.com/token'),
  ),
  clientId: credential,
  clientSecret: v.optional(credential),
  /**
   * The refresh token of the user who sends. Default: the client gets a token for itself, for which `scope` is needed
   * at most servers.
   */
  refreshToken: v.optional(credential),
  scope: v.optional(credential),
})

export type OAuthSettings = v.InferOutput<typeof oauthSchema>

const timeoutMessage = 'must be 1 to 60 seconds'

const entries = {
  /**
   * The server: `smtps://user:password@mail.example.com` with TLS from the start, or `smtp://` with STARTTLS, which is
   * demanded unless the server is on this machine. Default ports: 465 and 587.
   */
  url: v.pipe(
    v.string('must be a URL'),
    v.check(
      (text) => isServer(text),
      'must be the URL of a mail server, such as smtps://user:password@mail.example.com, without a path; percent-encode special characters of the password, or set mail.user and mail.password',
    ),
  ),
  /** The user, instead of the one of the URL. */
  user: v.optional(credential),
  /** The password, instead of the one in the URL, where it must be percent-encoded. */
  password: v.optional(credential),
  /** Access tokens instead of a password (XOAUTH2). */
  oauth: v.optional(oauthSchema),
  /** The name of this machine in `EHLO`. Default: that of the operating system. */
  name: v.optional(
    v.pipe(
      v.string('must be a host name'),
      v.regex(
        /^(?:[A-Za-z\d](?:[A-Za-z\d.-]{0,252})|\[[A-Za-z\d.:]{2,60}\])$/u,
        'must be a host name, such as id.example.com',
      ),
    ),
  ),
  /** The sender: an address, or `Example <id@example.com>`. */
  from: v.pipe(
    v.string('must be an address'),
    v.maxLength(320, 'must have at most 320 characters'),
    v.regex(
      /^(?:[^\p{Cc}<>@]{1,200} <[^\p{Cc}\s<>@]+@[^\p{Cc}\s<>@]+>|[^\p{Cc}\s<>@,;]+@[^\p{Cc}\s<>@,;]+)$/u,
      'must be an address, or a name with an address, such as Example <id@example.com>',
    ),
  ),
  /** Seconds that a step, such as connecting, can take. Default: 10. */
  timeout: v.optional(
    v.pipe(v.number(timeoutMessage), v.minValue(1, timeoutMessage), v.maxValue(60, timeoutMessage)),
    10,
  ),
  /**
   * Whether a mail is sent with TLS only, and the certificate verified. Default: `true`, unless the server is on this
   * machine, where a server may have a certificate of its own. `false` is refused for another machine.
   */
  requireTls: v.optional(v.boolean('must be true or false')),
  /** Certificates of authorities (PEM) that the server can have, instead of the public ones. */
  ca: v.optional(v.string('must be certificates')),
}

export const smtpSchema = v.pipe(
  configurationObject(entries),
  v.check(
    ({ url, user, password, oauth }) =>
      password === undefined || (oauth === undefined && (user !== undefined || (parseUrl(url)?.username ?? '') !== '')),
    'must have user with password, and not both password and oauth',
  ),
  v.check(
    ({ url, user, oauth }) => oauth === undefined || user !== undefined || (parseUrl(url)?.username ?? '') !== '',
    'must have user with oauth: the address that sends',
  ),
  v.forward(
    v.partialCheck(
      [['url'], ['requireTls']],
      // Without required TLS, an attacker on the network could remove the offer of TLS, and read the mails and the
      // password.
      ({ url, requireTls }) => requireTls !== false || !isServer(url) || isLoopbackHost(new URL(url).hostname),
      'must not be false for a server on another machine',
    ),
    ['requireTls'],
  ),
)

export type SmtpOptions = OptionsOf<typeof smtpSchema>
