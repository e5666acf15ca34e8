import type { Certificate } from './certificate.ts'

/** The kinds of subject alternative names of RFC 8705 section 2.1.2, by the tag of GeneralName (RFC 5280 section 4.2.1.6). */
const nameTags = { email: 0x81, dns: 0x82, uri: 0x86, ip: 0x87 } as const

export type NameKind = keyof typeof nameTags

/** Returns the octets of an IPv4 address. */
function octetsOfIpv4(text: string): readonly number[] | undefined {
  const parts = /^(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})\.(0|[1-9]\d{0,2})$/u
    .exec(text)
    ?.slice(1)
    .map(Number)
  return parts?.every((part) => part < 256) ? parts : undefined
}

/** Returns the octets of an IPv6 address, which the parser of URLs writes as in RFC 5952. */
function octetsOfIpv6(text: string): readonly number[] | undefined {
  if (!/^[\da-f:.]*:[\da-f:.]*$/iu.test(text) || !URL.canParse(`http://[${text}]`)) return undefined
  const [head = '', tail] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::')
  const groupsOf = (part: string): readonly string[] => (part === '' ? [] : part.split(':'))
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')]
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => '0')
  return [...before, ...zeros, ...after].flatMap((group) => {
    const number = Number.parseInt(group, 16)
    return [number >> 8, number & 0xff]
  })
}

/** Returns the octets of an IP address; `undefined` for other text. */
const octetsOf = (text: string): readonly number[] | undefined => octetsOfIpv4(text) ?? octetsOfIpv6(text)

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
    const found = kind === 'ip' ? content.join('.') : comparable(kind, String.fromCharCode(...content))
    return found === expected
  })
}
