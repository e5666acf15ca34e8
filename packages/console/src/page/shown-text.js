import { element } from './elements.js'

/**
 * Characters that are not seen, or that change how other text is seen: controls, marks of the writing direction, fillers
 * and blanks without a width, and marks that pile up over other lines. Names can contain them to look like other names.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]|(?<=\p{M}{3})\p{M}/gu

/** @param {string} character */
const escapeOf = (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}}`

/**
 * Returns a text of the API in which nothing is hidden.
 *
 * @param {unknown} text
 * @param {number} [length] Maximum number of characters
 */
export function visible(text, length = 200) {
  const characters = [...String(text)]
  const kept = characters.length > length ? [...characters.slice(0, length), '…'] : characters
  return kept.join('').replace(invisible, escapeOf)
}

/** @param {string} character */
const jsonEscapeOf = (character) =>
  character === '\n'
    ? character
    : character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/**
 * Returns the JSON of a value in which nothing is hidden. It is the JSON of the same value.
 *
 * @param {unknown} value
 */
export const visibleJson = (value) => JSON.stringify(value, null, 2).replace(invisible, jsonEscapeOf)

/**
 * Returns an element with a text of the API. Its writing direction has no effect on what is around it.
 *
 * @param {unknown} text
 * @param {number} [length]
 */
export function shown(text, length) {
  const readable = visible(text, length)
  // A short one, such as `carol-sub`, is not cut at its hyphen: how much fits into a line depends on the font.
  return element('bdi', readable.length <= 12 ? { class: 'whole' } : {}, readable)
}

/**
 * Returns a value of the API as a text.
 *
 * @param {unknown} value
 */
export function valueText(value) {
  if (value === undefined || value === null) return '–'
  if (typeof value === 'string') return value
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(', ') || 'none'
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : JSON.stringify(value)
}
