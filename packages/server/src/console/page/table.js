/**
 * Words by name. Unlike in a plain object there is nothing in it but what was put in: a claim may well be called `constructor`.
 *
 * @template V
 * @param {Record<string, V>} entries
 * @returns {Readonly<Record<string, V | undefined>>}
 */
export const table = (entries) => Object.freeze(Object.assign(Object.create(null), entries))
