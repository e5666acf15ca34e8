/** The separators that people write between the groups of a code, and invisible characters. */
const separators = /[\s\p{Pd}\p{Cf}\p{Default_Ignorable_Code_Point}_.·−]/gu

const digit = /\p{Nd}/gu

/** Returns the value of a decimal digit of any alphabet: Unicode has each ten in a row, from zero. */
function digitOf(character: string): string {
  const code = character.codePointAt(0) ?? 0
  let zero = code
  while (zero > code - 9 && /\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero -= 1
  return String(code - zero)
}

/** Longer texts are no code with some separators. */
const maxTyped = 100

/**
 * Returns a code as it was issued, for what a user has typed, pasted, or let a program fill in: in ASCII, with digits of any
 * alphabet and width, and without separators. Letters keep their case.
 *
 * @example
 * typedCode('۱۲۳ ۴۵۶') // '123456'
 */
export const typedCode = (text: string): string =>
  text.slice(0, maxTyped).normalize('NFKC').replace(separators, '').replace(digit, digitOf)
