import { contentOf, type DerValue, expectTag, objectIdentifier, readAll, tags } from './der.ts'
import { type ComparableName, nameIn } from './distinguished-name.ts'
import { bytesOf } from './encoding.ts'
import { type KeyMembers, keyMembersOf } from './public-key.ts'

/** What the plugin needs of a certificate. @see RFC 5280 section 4.1 */
export interface Certificate {
  /** The whole DER. */
  readonly bytes: Uint8Array
  /** Epoch seconds. */
  readonly notBefore: number
  /** Epoch seconds, the last one included. */
  readonly notAfter: number
  readonly subject: ComparableName
  /** The subject alternative names, as values of the choice GeneralName. */
  readonly alternativeNames: readonly DerValue[]
  /** The members of the JWK of the public key; `undefined` for a key of another kind. */
  readonly key: KeyMembers | undefined
}

const subjectAlternativeName = '2.5.29.17'

/** Characters of the base64 text. */
const maxLength = 24_000

const timeForm = /^(\d{2}|\d{4})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])([01]\d|2[0-3])([0-5]\d)([0-5]\d)Z$/u

/** Returns epoch seconds. @see RFC 5280 section 4.1.2.5 */
function timeOf({ tag, content }: DerValue): number {
  const match = timeForm.exec(String.fromCharCode(...content))
  const [digits = '', ...rest] = match?.slice(1) ?? []
  if (digits.length !== (tag === tags.utcTime ? 2 : 4) || (tag !== tags.utcTime && tag !== tags.generalizedTime)) {
    throw new RangeError('Not a time')
  }
  const [month = 0, day = 0, hour, minute, second] = rest.map(Number)
  const year = Number(digits) + (digits.length === 4 ? 0 : Number(digits) < 50 ? 2000 : 1900)
  // `Date.UTC` continues with the next month.
  if (Date.UTC(year, month - 1, day) >= Date.UTC(year, month)) throw new RangeError('Not a day')
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000
}

function alternativeNamesIn(extensions: DerValue | undefined): readonly DerValue[] {
  if (extensions === undefined) return []
  const matching = readAll(extensions.content)
    .flatMap((list) => contentOf(list, tags.sequence))
    .map((extension) => contentOf(extension, tags.sequence))
    .filter(([id]) => objectIdentifier(id) === subjectAlternativeName)
  // RFC 5280 section 4.2: at most one of each kind.
  if (matching.length > 1) throw new RangeError('A repeated extension')
  return matching.flatMap((parts) => {
    const [names, ...more] = readAll(expectTag(parts.at(-1), tags.octetString).content)
    if (more.length > 0) throw new RangeError('Bytes after the names')
    return contentOf(names, tags.sequence)
  })
}

const contextTag = { version: 0xa0, extensions: 0xa3 } as const

function parse(bytes: Uint8Array): Certificate {
  const [certificate, ...more] = readAll(bytes)
  const [signed, , , ...rest] = contentOf(certificate, tags.sequence)
  if (more.length > 0 || rest.length > 0) throw new RangeError('Bytes after the certificate')
  const fields = contentOf(signed, tags.sequence)
  const [, , , validity, subject, publicKey, ...optional] =
    fields[0]?.tag === contextTag.version ? fields.slice(1) : fields
  const [notBefore, notAfter] = contentOf(validity, tags.sequence).map(timeOf)
  if (notBefore === undefined || notAfter === undefined) throw new RangeError('No validity')
  return {
    bytes,
    notBefore,
    notAfter,
    subject: nameIn(expectTag(subject, tags.sequence)),
    key: keyMembersOf(expectTag(publicKey, tags.sequence)),
    alternativeNames: alternativeNamesIn(optional.find(({ tag }) => tag === contextTag.extensions)),
  }
}

/** Reads the base64 of a certificate, without verifying its signature. Returns `undefined` if it is malformed. */
export function readCertificate(base64: string): Certificate | undefined {
  const bytes = base64.length > maxLength ? undefined : bytesOf(base64)
  try {
    return bytes && parse(bytes)
  } catch {
    return undefined
  }
}
