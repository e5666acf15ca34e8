const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** @see RFC 4648 section 6; without padding, as authenticator apps expect */
export function encodeBase32(bytes: Uint8Array): string {
  let bits = ''
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0')
  return (bits.match(/.{1,5}/gu) ?? []).map((five) => letters[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

/** Returns `undefined` if the text has other characters. Ignores white space, padding and case. */
export function decodeBase32(text: string): Uint8Array | undefined {
  const digits = [...text.toUpperCase().replaceAll(/[\s=]/gu, '')].map((letter) => letters.indexOf(letter))
  if (digits.includes(-1)) return undefined
  const bits = digits.map((digit) => digit.toString(2).padStart(5, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/gu) ?? [], (byte) => Number.parseInt(byte, 2))
}
