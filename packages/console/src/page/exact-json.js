/** Why a number is refused: the sentence of the server. */
export const inexactNumber =
  'is a number that JSON does not keep exactly: beyond 9007199254740991 (2^53), write it as text'

/** @param {unknown} value */
const isInexact = (value) => typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)

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
  if (isInexact(number)) throw new TypeError(`It ${inexactNumber}`)
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
    value = JSON.parse(text, (name, member) => {
      if (isInexact(member)) inexact = name === '' ? 'It' : name
      return member
    })
  } catch {
    throw new TypeError('This is not JSON.')
  }
  if (inexact !== '') throw new TypeError(`${inexact} ${inexactNumber}`)
  return value
}
