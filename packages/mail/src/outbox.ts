import { assertMessage, type Message } from './message.ts'

/** A mail that was not sent. */
export interface KeptMail extends Message {
  /** Milliseconds since the epoch. */
  readonly time: number
}

/** Keeps mails in memory instead of sending them, for development. */
export interface OutboxMailer {
  send(message: Message): Promise<void>
  /** The newest mail first. */
  list(): readonly KeptMail[]
}

/**
 * Creates an outbox. A reader of the outbox can sign in as each user who gets a mail, so do not use it in production.
 *
 * @param options `size`: the number of mails that are kept, by default 50
 */
export function outboxMailer({ size = 50 }: { readonly size?: number | undefined } = {}): OutboxMailer {
  const mails: KeptMail[] = []
  return {
    async send(message) {
      assertMessage(message)
      mails.unshift({ ...message, time: Date.now() })
      mails.splice(size)
    },
    list: () => [...mails],
  }
}
