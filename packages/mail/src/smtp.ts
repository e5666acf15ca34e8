import { isLoopbackHost, parseConfiguration } from '@grantry/core'
import { createTransport } from 'nodemailer'
import { mailFailure } from './failure.ts'
import { assertMessage, type Message } from './message.ts'
import { requestMailToken } from './oauth.ts'
import { type SmtpOptions, smtpSchema } from './options.ts'

/** Sends mails to one SMTP server. */
export interface SmtpMailer {
  /** Resolves when the server has accepted the mail. Its errors contain neither the mail nor an address. */
  send(message: Message): Promise<void>
  /** Signs in to the server, for checks. */
  verify(): Promise<void>
  /** Closes the connections. */
  close(): void
}

type TokenCallback = (error: Error | null, accessToken?: string, expires?: number) => void

/** Connections at the same time, and mails over one of them. */
const maxConnections = 5
const maxMessages = 100

/**
 * Sends mails by SMTP.
 *
 * @throws TypeError when an option is malformed.
 * @see RFC 5321; RFC 3207 (STARTTLS); RFC 8314 section 3.3 (TLS from the start)
 */
export function smtpMailer(options: SmtpOptions): SmtpMailer {
  const settings = parseConfiguration(smtpSchema, options, 'smtpMailer()')
  const { url: text, from, timeout, requireTls, ca, name, oauth } = settings
  const url = new URL(text)
  const secure = url.protocol === 'smtps:'
  const host = url.hostname.replace(/^\[|\]$/gu, '')
  const limit = timeout * 1000
  const user = settings.user ?? decodeURIComponent(url.username)
  const pass = settings.password ?? decodeURIComponent(url.password)
  const mustEncrypt = requireTls ?? !isLoopbackHost(url.hostname)
  const port = url.port === '' ? (secure ? 465 : 587) : Number(url.port)
  const withoutDetails = async <T>(result: Promise<T>): Promise<T> => {
    try {
      return await result
    } catch (thrown) {
      throw mailFailure(thrown, `${url.hostname}:${port}`)
    }
  }
  const transport = createTransport({
    host,
    port,
    secure,
    // Without required TLS, an attacker on the network could remove the offer of TLS, and read the mails and the
    // password.
    requireTLS: !secure && mustEncrypt,
    ...(name !== undefined && { name }),
    ...(user !== '' && { auth: oauth === undefined ? { user, pass } : { type: 'OAuth2', user } }),
    tls: {
      minVersion: 'TLSv1.2',
      // A server on this machine often has a certificate of its own. Where nothing demands TLS, plain text would do.
      rejectUnauthorized: secure || mustEncrypt || ca !== undefined,
      ...(ca !== undefined && { ca }),
    },
    pool: true,
    maxConnections,
    maxMessages,
    connectionTimeout: limit,
    greetingTimeout: limit,
    socketTimeout: limit,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  if (oauth !== undefined) {
    transport.set('oauth2_provision_cb', (_user: string, _renew: boolean, done: TokenCallback) => {
      requestMailToken(oauth, limit).then(
        ({ accessToken, expires }) => done(null, accessToken, expires),
        (error: unknown) => done(error as Error),
      )
    })
  }
  // The pool reports a lost connection, which the next mail replaces.
  transport.on('error', () => {})
  return {
    async send(message) {
      assertMessage(message)
      const { to, subject, text: plain, html } = message
      // RFC 3834 section 5: prevents automatic replies.
      const headers = { 'Auto-Submitted': 'auto-generated' }
      await withoutDetails(
        transport.sendMail({ from, to: { name: '', address: to }, subject, text: plain, html, headers }),
      )
    },
    async verify() {
      await withoutDetails(transport.verify())
    },
    close: () => transport.close(),
  }
}
