/** Why a number is refused: the sentence of the server. */
export const inexactNumber =
  'is a number that JSON does not keep exactly, such as one beyond 9007199254740991 (2^53): write it as text'

/** @param {unknown} value */
const isInexact = (value) => typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)

/**
 * Whether a number, as it is written, is so small that not all of its digits are left: `1e-400` would be 0.
 *
 * @param {string} literal
 */
const vanishes = (literal) => Math.abs(Number(literal)) < 2 ** -1022 && /^[-+]?[0.]*[1-9]/u.test(literal)

/** A text, or a number as it is written. */
const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]*(?:[eE][+-]?\d+)?/gu

/**
 * Returns a number as it was typed. The server could not refuse one that was rounded here, or is infinite, which becomes
 * `null`.
 *
 * @param {string} text
 * @throws TypeError with one sentence
 */
export function parseNumber(text) {
  const number = Number(text)
  if (Number.isNaN(number)) throw new TypeError('Type a number.')
  if (isInexact(number) || vanishes(text.trim())) throw new TypeError(`It ${inexactNumber}`)
  return number
}

/**
 * Returns the value of a text of JSON, with each number as it was typed.
 *
 * @param {string} text
 * @throws TypeError with one sentence
 */
export function parseJson(text) {
  let inexact = ''
  /** @type {unknown} */
  let value
  try {
    JSON.parse(text)
    // Infinite numbers are refused below.
    const marked = text.replace(textOrNumber, (literal) =>
      literal.startsWith('"') || !vanishes(literal) ? literal : '1e999',
    )
    value = JSON.parse(marked, (name, member) => {
      if (isInexact(member)) inexact = name === '' ? 'It' : name
      return member
    })
  } catch {
    throw new TypeError('This is not JSON.')
  }
  if (inexact !== '') throw new TypeError(`${inexact} ${inexactNumber}`)
  return value
}
