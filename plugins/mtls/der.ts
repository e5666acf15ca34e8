/** A value of ASN.1 in DER. */
export interface DerValue {
  /** The identifier octet: the class, whether it is constructed, and the number. */
  readonly tag: number
  readonly content: Uint8Array
  /** The value with its tag and length. */
  readonly whole: Uint8Array
}

export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  visibleString: 0x1a,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const

const malformed = (): RangeError => new RangeError('Not DER')

/** Reads the length that starts at `start`. Certificates have less than 64 KB. */
function readLength(bytes: Uint8Array, start: number): { readonly length: number; readonly next: number } {
  const first = bytes[start]
  if (first === undefined) throw malformed()
  if (first < 0x80) return { length: first, next: start + 1 }
  const [high = 0, low] = first === 0x81 ? [0, bytes[start + 1]] : [bytes[start + 1], bytes[start + 2]]
  const length = high * 256 + (low ?? 0)
  // Only the shortest form is DER (X.690 section 10.1).
  if (first > 0x82 || low === undefined || length < (first === 0x81 ? 0x80 : 0x100)) throw malformed()
  return { length, next: start + first - 0x7f }
}

/** Reads the values that follow each other. @throws RangeError for anything that is not DER. */
export function readAll(bytes: Uint8Array): readonly DerValue[] {
  const values: DerValue[] = []
  for (let start = 0; start < bytes.length; ) {
    const tag = bytes[start] ?? 0
    const { length, next } = readLength(bytes, start + 1)
    const end = next + length
    // No type of a certificate has a number above 30, which would take more octets.
    if ((tag & 0x1f) === 0x1f || end > bytes.length) throw malformed()
    values.push({ tag, content: bytes.subarray(next, end), whole: bytes.subarray(start, end) })
    start = end
  }
  return values
}

/** Returns a value that must have this tag. @throws RangeError */
export function expectTag(value: DerValue | undefined, tag: number): DerValue {
  if (value?.tag === tag) return value
  throw malformed()
}

/** Returns what a value of this tag contains. @throws RangeError */
export const contentOf = (value: DerValue | undefined, tag: number): readonly DerValue[] =>
  readAll(expectTag(value, tag).content)

/** Returns the number with dots. @throws RangeError */
export function objectIdentifier(value: DerValue | undefined): string {
  const { content } = expectTag(value, tags.objectIdentifier)
  const numbers: number[] = []
  let number = 0
  for (const octet of content) {
    number = number * 128 + (octet & 0x7f)
    if (number > Number.MAX_SAFE_INTEGER) throw malformed()
    if (octet >= 0x80) continue
    numbers.push(number)
    number = 0
  }
  const [first, ...others] = numbers
  if (first === undefined || (content.at(-1) ?? 0) >= 0x80) throw malformed()
  const root = Math.min(2, Math.floor(first / 40))
  return [root, first - root * 40, ...others].join('.')
}
