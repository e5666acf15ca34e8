import { type EndpointKit, type MaybePromise, typedName } from '@grantry/core'
import { portSchema } from './config-schema.ts'

/** A mail to one user. It never contains a password. */
export interface MailMessage {
  /** One address, without a name. */
  readonly to: string
  readonly subject: string
  readonly text: string
  /** The same as an HTML document. */
  readonly html: string
}

/** Sends mails. `smtpMailer()` of `@grantry/mail` is one. */
export interface Mailer {
  /** Resolves when a server has accepted the mail. Must have a time limit. Its errors must not contain the mail. */
  send(message: MailMessage): MaybePromise<void>
  /**
   * Keeps a Worker running until a mail is sent, which happens after the response: `waitUntil` of `cloudflare:workers`.
   * Without it, a Worker ends before the mail is sent.
   */
  readonly waitUntil?: ((sending: Promise<void>) => void) | undefined
}

/**
 * Sends a mail. A store of accounts can have an address with spaces or invisible characters around it, such as one that was
 * pasted: no server accepts it.
 *
 * @param port the name of the mailer for events
 */
export const sendMail = (
  mailer: Mailer,
  port: string,
  { to, ...mail }: MailMessage,
  kit: Pick<EndpointKit, 'callHost'>,
): Promise<void> => kit.callHost(port, () => mailer.send({ ...mail, to: typedName(to) }))

export const mailerSchema = portSchema<Mailer>('a mailer, such as smtpMailer()', { send: true })
