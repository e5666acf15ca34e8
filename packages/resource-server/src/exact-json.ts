/** Whether JSON keeps a number as it was written: not rounded, and not infinite. */
export const isExact = (number: number): boolean => Math.abs(number) <= Number.MAX_SAFE_INTEGER

/** Deeper values are not searched. */
const maxDepth = 200

/** Whether a value has a number that JSON has rounded, or that is infinite. */
function isRounded(value: unknown, depth = 0): boolean {
  if (typeof value === 'number') return !isExact(value)
  if (typeof value !== 'object' || value === null || depth > maxDepth) return false
  return Object.values(value).some((member) => isRounded(member, depth + 1))
}

/** Only numbers with these are so small that nothing of them is left, such as `1e-400`. Texts can have them, too. */
const canVanish = /\d[eE]-\d{3}|\.0{200}/u

/** Whether a double keeps a number as it is written. Below 2^-1022, it has fewer digits than elsewhere, or none. */
const isKept = (literal: string): boolean =>
  isExact(Number(literal)) && (Math.abs(Number(literal)) >= 2 ** -1022 || !/^-?[0.]*[1-9]/u.test(literal))

/** A number in a text is skipped with the text. */
const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]*(?:[eE][+-]?\d+)?/gu

/**
 * Parses JSON of the issuer, with the numbers that a double does not keep as texts, as they are written: an API must not take
 * two users with neighbouring numbers of 64 bits for one.
 *
 * @throws SyntaxError if it is not JSON
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!isRounded(value) && !canVanish.test(text)) return value
  // Only of valid JSON: in other texts, the search could take long.
  return JSON.parse(
    text.replace(textOrNumber, (literal) => (literal.startsWith('"') || isKept(literal) ? literal : `"${literal}"`)),
  )
}
