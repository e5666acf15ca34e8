// C0 and C1 contain terminal control sequences. Bidirectional overrides change what a person reads.
const unsafeCharacters = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Replaces control characters, line breaks and invisible formatting in a text that an attacker may have chosen. */
export const sanitizeText = (text: string, replace: (harmful: string) => string = () => ' '): string =>
  text.replaceAll(unsafeCharacters, replace)

/** Like `sanitizeText`, for a text of several lines, whose values must not contain line breaks. */
export const sanitizeLines = (text: string): string =>
  sanitizeText(text, (harmful) => (harmful === '\n' ? harmful : ' '))

const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Returns indented JSON for a terminal: `JSON.stringify` leaves most characters that control one unescaped. */
export const jsonText = (value: unknown): string =>
  sanitizeText(JSON.stringify(value, null, 2), (match) =>
    match === '\n' ? match : match.split('').map(escaped).join(''),
  )
