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

/** Returns a mail address without the spaces around it; `undefined` if it is none. */
export function addressIn(text: string): string | undefined {
  const address = text.trim().normalize('NFC')
  return address.length <= maxLength && form.test(address) ? address : undefined
}

/** Maps an address in any case to one text, for limits and the place of a ticket. */
export const foldedAddress = (address: string): string => address.normalize('NFKC').toLowerCase()
