import { defineTask, type EndpointKit, type PluginPart } from '@grantry/core'
import { type Mailer, type MailMessage, sendMail } from './mailer.ts'

/** How often a mail is sent. */
const maxAttempts = 3

/** Mails that wait in a process, or are on their way. Further ones are not sent. */
const maxWaiting = 1000

interface Letter {
  readonly message: MailMessage
  readonly purpose: string
  attempts: number
}

/**
 * Returns the codes at the end of a message, and the server, such as `EENVELOPE 550 at mail.example.com:587`. The rest could
 * contain an address.
 */
export function mailFailure(error: unknown): string {
  const { cause, message } = error instanceof Error ? error : new Error()
  const text = cause instanceof Error ? cause.message : message
  return /\(([A-Z0-9_ ]{1,80}(?: at [a-z\d.:[\]-]{1,261})?)\)$/u.exec(text)?.[1] ?? 'not_accepted'
}

/** Mails that no response waits for. */
export interface Outgoing {
  /** Sends a mail soon. Without one, does the same work. */
  post(purpose: string, message: MailMessage | undefined, kit: EndpointKit): void
  readonly part: PluginPart
}

/**
 * Creates the mails of a process. They are never stored, because they contain links: a user whose mail is lost with the
 * process asks again. What a server refuses is sent again by the task, a few seconds later.
 *
 * @param port the name of the mailer for events
 */
export function createOutgoing(mailer: Mailer, port: string): Outgoing {
  const failed: Letter[] = []
  const pending = new Set<Promise<void>>()

  const giveUp = (purpose: string, reason: string, kit: EndpointKit): void =>
    kit.recordUser({ type: 'mail_failed', purpose, reason }, {})

  async function attempt(letter: Letter, kit: EndpointKit): Promise<void> {
    letter.attempts += 1
    try {
      await sendMail(mailer, port, letter.message, kit)
    } catch (error) {
      if (letter.attempts < maxAttempts) failed.push(letter)
      else giveUp(letter.purpose, mailFailure(error), kit)
    }
  }

  function track(sending: Promise<void>): Promise<void> {
    const tracked = sending.finally(() => pending.delete(tracked))
    pending.add(tracked)
    return tracked
  }

  return {
    post(purpose, message, kit) {
      const isFull = pending.size + failed.length >= maxWaiting
      // After the response: it must not show whether there is a mail.
      const later = new Promise<void>((resolve) => {
        setTimeout(resolve, 0)
      })
      const sending = track(
        later.then(() => {
          if (message === undefined) return undefined
          return isFull ? giveUp(purpose, 'too_many_waiting', kit) : attempt({ message, purpose, attempts: 0 }, kit)
        }),
      )
      mailer.waitUntil?.(sending)
    },
    part: defineTask(async (kit) => {
      const again = failed.splice(0)
      await Promise.all([...pending, ...again.map((letter) => track(attempt(letter, kit)))])
    }),
  }
}
