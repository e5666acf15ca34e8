/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * @param {unknown} before
 * @param {unknown} after
 */
export const isSame = (before, after) => JSON.stringify(before) === JSON.stringify(after)

/**
 * Returns the JSON Merge Patch (RFC 7396) that turns one value into another.
 *
 * @param {unknown} before
 * @param {unknown} after
 * @returns {unknown}
 */
export function patchBetween(before, after) {
  if (after === undefined) return null
  if (!isObject(before) || !isObject(after)) return after
  const members = new Set([...Object.keys(before), ...Object.keys(after)])
  return Object.fromEntries(
    [...members]
      .filter((member) => !isSame(before[member], after[member]))
      .map((member) => [member, patchBetween(before[member], after[member])]),
  )
}
