import { octetsOf } from '../shared/ip-octets.ts'
import type { Certificate } from './certificate.ts'

/** The kinds of subject alternative names of RFC 8705 section 2.1.2, by the tag of GeneralName (RFC 5280 section 4.2.1.6). */
const nameTags = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const

export type NameKind = keyof typeof nameTags

/**
 * Returns a text that is equal for equal names. The host of an email address and a DNS name ignore case (RFC 5280
 * sections 7.2 and 7.5); a URI does not, which refuses more than section 7.4 requires.
 */
function comparable(kind: NameKind, text: string): string | undefined {
  if (kind === 'uri') return text
  if (kind === 'ip') return octetsOf(text)?.join('.')
  const at = kind === 'dns' ? -1 : text.lastIndexOf('@')
  return text.slice(0, at + 1) + text.slice(at + 1).replace(/[A-Z]/gu, (letter) => letter.toLowerCase())
}

/** Whether a text can be a name of this kind. */
export const isName = (kind: NameKind, text: string): boolean =>
  /^[!-~]+$/u.test(text) && (kind !== 'email' || /^[^@]+@[^@]+$/u.test(text)) && comparable(kind, text) !== undefined

/** Whether a certificate has this name. A wildcard is compared like other text. */
export function hasName({ alternativeNames }: Certificate, kind: NameKind, text: string): boolean {
  const expected = comparable(kind, text)
  return alternativeNames.some(({ tag, content }) => {
    if (tag !== nameTags[kind]) return false
    const name = kind === 'ip' ? content.join('.') : comparable(kind, String.fromCharCode(...content))
    return name === expected
  })
}
