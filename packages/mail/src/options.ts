// The schema of the options, without the library.
import { configurationObject } from '@grantry/core'
import * as v from 'valibot'

export interface SmtpOptions {
  /**
   * The server: `smtps://user:password@mail.example.com` with TLS from the start, or `smtp://` with STARTTLS, which is
   * demanded unless the server is on this machine. Default ports: 465 and 587.
   */
  readonly url: string
  /** The sender: an address, or `Example <id@example.com>`. */
  readonly from: string
  /** Seconds that a step, such as connecting, can take. Default: 10. */
  readonly timeout?: number | undefined
  /**
   * Whether a mail is sent with TLS only. Default: `true`, unless the server is on this machine. `false` is refused for
   * another machine.
   */
  readonly requireTls?: boolean | undefined
  /** Certificates of authorities (PEM) that the server can have, instead of the public ones. */
  readonly ca?: string | undefined
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}

const isServer = (text: string): boolean => {
  const url = parsed(text)
  return (
    url !== undefined &&
    /^smtps?:$/u.test(url.protocol) &&
    url.hostname !== '' &&
    /^\/?$/u.test(url.pathname) &&
    url.search === '' &&
    url.hash === ''
  )
}

/** Whether a host of a URL is this machine. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/iu.test(host)

const timeoutMessage = 'must be 1 to 60 seconds'

const entries = {
  url: v.pipe(
    v.string('must be a URL'),
    v.check(
      (text) => isServer(text),
      'must be the URL of a mail server, such as smtps://user:password@mail.example.com',
    ),
  ),
  from: v.pipe(
    v.string('must be an address'),
    v.maxLength(320, 'must have at most 320 characters'),
    v.regex(
      /^(?:[^\p{Cc}<>@]{1,200} <[^\p{Cc}\s<>@]+@[^\p{Cc}\s<>@]+>|[^\p{Cc}\s<>@,;]+@[^\p{Cc}\s<>@,;]+)$/u,
      'must be an address, or a name with an address, such as Example <id@example.com>',
    ),
  ),
  timeout: v.optional(
    v.pipe(v.number(timeoutMessage), v.minValue(1, timeoutMessage), v.maxValue(60, timeoutMessage)),
    10,
  ),
  requireTls: v.optional(v.boolean('must be true or false')),
  ca: v.optional(v.string('must be certificates')),
}

/** The schema of the options. */
export const smtpSchema = v.pipe(
  configurationObject(entries),
  v.forward(
    v.partialCheck(
      [['url'], ['requireTls']],
      // Otherwise, who is between could remove the offer of TLS, and read the mails and the password.
      ({ url, requireTls }) => requireTls !== false || !isServer(url) || isLoopback(new URL(url).hostname),
      'must not be false for a server on another machine',
    ),
    ['requireTls'],
  ),
)
