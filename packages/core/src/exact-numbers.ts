/** Deeper values are no JSON that this project accepts. */
const maxDepth = 200

/** Whether JSON keeps a number as it was written: not rounded, and not infinite, which becomes `null`. */
export const isExact = (number: number): boolean =>
  Number.isFinite(number) && Math.abs(number) <= Number.MAX_SAFE_INTEGER

/**
 * Returns the path of the first number that JSON does not keep exactly, such as `claims.id`; `''` if it is the value
 * itself, and `undefined` if there is none. Values of the host can have cycles.
 */
export function inexactNumberIn(value: unknown, depth = 0, seen = new Set<object>()): string | undefined {
  if (typeof value === 'number') return isExact(value) ? undefined : ''
  if (typeof value !== 'object' || value === null || depth > maxDepth || seen.has(value)) return undefined
  seen.add(value)
  for (const [name, member] of Object.entries(value)) {
    const path = inexactNumberIn(member, depth + 1, seen)
    if (path === undefined) continue
    const start = Array.isArray(value) ? `[${name}]` : name
    return path === '' || path.startsWith('[') ? start + path : `${start}.${path}`
  }
  return undefined
}

/** Why a number is refused. */
export const inexactNumber =
  'is a number that JSON does not keep exactly: beyond 9007199254740991 (2^53), write it as text'

/** Texts, and numbers with 16 digits or an exponent: all others are exact. */
const textOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.]*(?:[eE][+-]?\d+)?/gu

/**
 * Parses JSON of another party, with the numbers that it does not keep exactly as texts, as they are written: two users with
 * neighbouring numbers of 64 bits remain two.
 *
 * @throws SyntaxError if it is not JSON
 */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (inexactNumberIn(value) === undefined) return value
  // Only of valid JSON: in other texts, the search could take long.
  return JSON.parse(
    text.replace(textOrNumber, (literal) =>
      literal.startsWith('"') || isExact(Number(literal)) ? literal : `"${literal}"`,
    ),
  )
}
