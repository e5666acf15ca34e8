import { defineTask, type EndpointKit, type PluginPart } from '@grantry/core'
import { type Bulkhead, createBulkhead } from './bulkhead.ts'
import { type Mailer, type MailMessage, sendMail } from './mailer.ts'

/** How often a mail is sent. */
const maxAttempts = 3

/** Mails that wait in a process, beside those on their way. Further ones are not sent. */
const maxWaiting = 900

/** Mails on their way: fewer than the calls of a host function (128), so that the core refuses none of them. */
const maxSending = 100

/** The shares of both, in tenths. Sign-ups, which cost a stranger nothing, use up none of the mails of accounts. */
const shares = { account: 6, sign_up: 4 } as const

/** The purposes of mails that a request for a new account causes. */
const signUps: ReadonlySet<string> = new Set(['sign_up', 'account_exists'])

interface Letter {
  readonly message: MailMessage
  readonly purpose: string
  attempts: number
}

/** The mails of one share. */
interface Lane {
  readonly maxWaiting: number
  /** The mails on their way. A Worker loses some with their requests: their places are free again after a minute. */
  readonly places: Bulkhead
  /** Mails that wait for a place. */
  readonly waiting: Letter[]
  /** Mails that the task sends again. */
  readonly failed: Letter[]
}

const createLane = (tenths: number): Lane => ({
  maxWaiting: (maxWaiting * tenths) / 10,
  places: createBulkhead({ all: (maxSending * tenths) / 10, perKey: maxSending }),
  waiting: [],
  failed: [],
})

const isFull = (lane: Lane): boolean => lane.waiting.length + lane.failed.length >= lane.maxWaiting

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
  /** Sends a mail after the response. Without a message, does the same work. */
  post(purpose: string, message: MailMessage | undefined, kit: EndpointKit): void
  readonly part: PluginPart
}

/**
 * Creates the mails of a process. They are never stored, because they contain links: a user whose mail is lost with the
 * process asks again. The task sends a mail that the server has refused again, a few seconds later.
 *
 * @param port the name of the mailer for events
 */
export function createOutgoing(mailer: Mailer, port: string): Outgoing {
  const lanes = { account: createLane(shares.account), sign_up: createLane(shares.sign_up) }
  const pending = new Set<Promise<void>>()

  const giveUp = (purpose: string, reason: string, kit: EndpointKit): void =>
    kit.recordUser({ type: 'mail_failed', purpose, reason }, {})

  async function attempt(letter: Letter, lane: Lane, kit: EndpointKit): Promise<void> {
    letter.attempts += 1
    try {
      await sendMail(mailer, port, letter.message, kit)
    } catch (error) {
      if (letter.attempts < maxAttempts) lane.failed.push(letter)
      else giveUp(letter.purpose, mailFailure(error), kit)
    }
  }

  /** Sends a mail, and then those that have waited for its place. */
  async function send(letter: Letter, lane: Lane, kit: EndpointKit): Promise<void> {
    const leave = lane.places.enter('', kit.now())
    if (leave === undefined) {
      lane.waiting.push(letter)
      return
    }
    for (let next: Letter | undefined = letter; next !== undefined; next = lane.waiting.shift()) {
      await attempt(next, lane, kit)
    }
    leave()
  }

  function track(sending: Promise<void>): Promise<void> {
    const tracked = sending.finally(() => pending.delete(tracked))
    pending.add(tracked)
    return tracked
  }

  return {
    post(purpose, message, kit) {
      const lane = lanes[signUps.has(purpose) ? 'sign_up' : 'account']
      // Comes after the response, whose time must not show whether there is a mail.
      const later = new Promise<void>((resolve) => {
        setTimeout(resolve, 0)
      })
      const sending = track(
        later.then(() => {
          if (message === undefined) return undefined
          return isFull(lane)
            ? giveUp(purpose, 'too_many_waiting', kit)
            : send({ message, purpose, attempts: 0 }, lane, kit)
        }),
      )
      mailer.waitUntil?.(sending)
    },
    part: defineTask(async (kit) => {
      const again = Object.values(lanes).flatMap((lane) =>
        [...lane.waiting.splice(0), ...lane.failed.splice(0)].map((letter) => track(send(letter, lane, kit))),
      )
      await Promise.all([...pending, ...again])
    }),
  }
}
