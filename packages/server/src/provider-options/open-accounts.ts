import type { OutboxMailer } from '@grantry/mail/outbox'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { configuredMail, outboxUrlOf } from '../configuration/mail.ts'
import type { SelfServiceHost } from '../configuration/sign-in/self-service.ts'
import { configuredAccounts } from '../users/user-databases.ts'
import { usesAccounts } from './assert-accounts.ts'

/** The store and the mailer of the accounts of a configuration. */
export interface OpenedAccounts {
  readonly host: Omit<SelfServiceHost, 'adminHost'>
  /** Mails that are not sent, because the server is for development. */
  readonly outbox?: OutboxMailer | undefined
  close(): Promise<void>
}

/**
 * Opens the mails and the table of the accounts; `undefined` if users do not manage accounts.
 *
 * @throws Error that begins with the path of the setting that is wrong
 */
export async function openAccounts({
  configuration,
  directory,
}: Pick<LoadedConfiguration, 'configuration' | 'directory'>): Promise<OpenedAccounts | undefined> {
  if (!usesAccounts(configuration)) return undefined
  const { issuer, users, mail } = configuration
  const store = await configuredAccounts(users, directory)
  try {
    await store?.open()
  } catch (cause) {
    await store?.close()
    throw cause
  }
  const { mailer, outbox, close } = await configuredMail(mail)
  return {
    host: { issuer, mailer, store, outboxUrl: outbox && outboxUrlOf(issuer) },
    outbox,
    async close() {
      close()
      await store?.close()
    },
  }
}
