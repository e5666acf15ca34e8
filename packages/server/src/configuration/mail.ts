import { smtpSchema } from '@grantry/mail/options'
import { type OutboxMailer, outboxMailer } from '@grantry/mail/outbox'
import type { Mailer } from '@grantry/plugins/self-service'
import type * as v from 'valibot'

export const mailSchema = smtpSchema

/** How a configuration sends mails. */
export interface ConfiguredMail {
  readonly mailer: Mailer
  /** Mails that are not sent, because the server is for development. */
  readonly outbox?: OutboxMailer | undefined
  close(): void
}

/** Returns the mailer: that of the configured mail server, or an outbox without one. See `assertAccounts()`. */
export async function configuredMail(mail: v.InferOutput<typeof mailSchema> | undefined): Promise<ConfiguredMail> {
  if (mail !== undefined) {
    const { smtpMailer } = await import('@grantry/mail')
    const mailer = smtpMailer(mail)
    return { mailer, close: () => mailer.close() }
  }
  const outbox = outboxMailer()
  return { mailer: outbox, outbox, close: () => {} }
}

/** Returns where the page with the mails of the outbox is. */
export const outboxUrlOf = (issuer: string): string => `${issuer.replace(/\/$/u, '')}/outbox`
