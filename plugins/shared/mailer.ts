import type { MaybePromise } from '@grantry/core'
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
}

export const mailerSchema = portSchema<Mailer>('a mailer, such as smtpMailer()', { send: true })
