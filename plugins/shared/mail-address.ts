import { parseUrl } from '@grantry/core'

/**
 * Maps an address in any case to one text. Only spellings with the same text are one address, also for a store that ignores
 * more, such as accents: each of the others would have limits of its own, and be another mailbox.
 */
export const foldedAddress = (address: string): string => address.normalize('NFKC').toLowerCase()

export const isSameAddress = (one: string, other: string): boolean => foldedAddress(one) === foldedAddress(other)

/** The longest address. @see RFC 5321 section 4.5.3.1, RFC 3696 erratum 1690 */
const maxLength = 254

/**
 * An address as the field of a browser accepts it, with other alphabets in the name of the mailbox and the host. No quoted
 * names, comments, spaces, line breaks or lists: what a mail server could read as another recipient, or as a header.
 *
 * @see HTML, valid e-mail address; RFC 6531 section 3.3
 */
const form =
  /^[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?)+$/u

/** Characters that no one sees, such as fillers: an address with them would look like another one. */
const invisible = /\p{Default_Ignorable_Code_Point}/u

/** Returns a mail address without the spaces around it; `undefined` if it is none. */
export function addressIn(text: string): string | undefined {
  const trimmed = text.trim()
  // Before: Unicode normalization sorts marks, in time that grows with the square of their number.
  if (trimmed.length > maxLength) return undefined
  const address = trimmed.normalize('NFC')
  return address.length <= maxLength && form.test(address) && !invisible.test(address) ? address : undefined
}

/**
 * Maps addresses of one mailbox to one text, for the limit of mails: without the tag after a plus sign, and with the name
 * of the host as it is in the DNS.
 *
 * @see RFC 5233; RFC 5891 section 4.4
 */
export function mailboxOf(address: string): string {
  const folded = foldedAddress(address)
  const at = folded.lastIndexOf('@')
  const host = folded.slice(at + 1)
  // A name that starts with the sign has no tag.
  const [name = ''] = folded.slice(0, at).split(/(?<=.)\+/u, 1)
  return `${name}@${parseUrl(`http://${host}`)?.hostname ?? host}`
}
