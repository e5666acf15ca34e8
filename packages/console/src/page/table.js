/**
 * Returns a lookup table without inherited properties, because a claim can be named `constructor`.
 *
 * @template V
 * @param {Record<string, V>} entries
 * @returns {Readonly<Record<string, V | undefined>>}
 */
export const table = (entries) => Object.freeze(Object.assign(Object.create(null), entries))
