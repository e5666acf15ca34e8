import { foldedAddress, foldedDomain, typedName } from '@grantry/core'

/** The longest address. @see RFC 5321 section 4.5.3.1, RFC 3696 erratum 1690 */
const maxLength = 254

/**
 * An address as the field of a browser accepts it, with other alphabets in the name of the mailbox and the host.
 * Excludes quoted names, comments, spaces, line breaks and lists, which a mail server could read as another recipient,
 * or as a header.
 *
 * @see HTML, valid e-mail address; RFC 6531 section 3.3
 */
const form =
  /^[\p{L}\p{M}\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?)+$/u

/** Invisible characters, such as fillers: an address with them would look like another one. */
const invisible = /\p{Default_Ignorable_Code_Point}/u

/**
 * Returns a mail address in the form in which it is stored and shown, and in which mails are sent to it: without white
 * space and invisible characters around it, in the width of Latin letters, with the domain in letters. Keeps the case
 * before the domain. `undefined` if the text is no mail address.
 */
export function addressIn(text: string): string | undefined {
  // Checked before normalization, which sorts marks in time that grows with the square of their number.
  if (text.length > 2 * maxLength) return undefined
  const typed = typedName(text).normalize('NFKC')
  const at = typed.lastIndexOf('@')
  const address = `${typed.slice(0, at)}@${foldedDomain(typed.slice(at + 1))}`
  const isPossible = at > 0 && address.length <= maxLength && !invisible.test(typed)
  return isPossible && form.test(address) ? address : undefined
}

/**
 * Maps addresses of one mailbox to one text, for the limit of mails: without the tag after a plus sign.
 *
 * @see RFC 5233
 */
export function mailboxOf(address: string): string {
  const folded = foldedAddress(address)
  const at = folded.lastIndexOf('@')
  const host = folded.slice(at + 1)
  // A name that starts with the sign has no tag.
  const [name = ''] = folded.slice(0, at).split(/(?<=.)\+/u, 1)
  return `${name}@${host}`
}
