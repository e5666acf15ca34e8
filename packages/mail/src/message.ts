/** A mail to one user. */
export interface Message {
  /** One address, without a name. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** Whether a text contains characters that would end a header, or begin another recipient. */
const isForeign = (text: string): boolean => /[\p{Cc}\u2028\u2029]/u.test(text)

/**
 * Refuses a mail with a recipient or subject that could become another header, or another recipient.
 *
 * @throws TypeError
 */
export function assertMessage({ to, subject }: Message): void {
  if (isForeign(to) || /[\s,;<>"()]/u.test(to) || !/^[^@]+@[^@]+$/u.test(to)) {
    throw new TypeError('The recipient of a mail must be one address')
  }
  if (isForeign(subject)) throw new TypeError('The subject of a mail must not contain control characters')
}
