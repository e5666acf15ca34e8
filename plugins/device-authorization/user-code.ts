import { typedCode } from '../shared/typed-code.ts'

// RFC 8628 section 6.1: no vowels, so that no words arise, and no digits, so that it can be typed on a phone keyboard.
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const length = 8

/** The largest multiple of 20 in a byte. Larger bytes are rejected, so that every letter is equally likely. */
const limit = 240

/**
 * Returns a random user code: 8 of 20 letters (34.5 bits).
 *
 * @param randomId returns 256 random bits in base64url.
 */
export function randomUserCode(randomId: () => string): string {
  let code = ''
  while (code.length < length) {
    for (const character of atob(randomId().replaceAll('-', '+').replaceAll('_', '/'))) {
      const byte = character.charCodeAt(0)
      if (byte < limit && code.length < length) code += letters[byte % letters.length]
    }
  }
  return code
}

/** Writes a user code as people read it: `WDJB-MJHT`. */
export const groupedUserCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`

/** Longer input is not a code with some hyphens and spaces. */
const maxTyped = 40

/** Returns the user code for what a user typed, in any case and grouping; `undefined` if it cannot be one. */
export function typedUserCode(typed: string): string | undefined {
  if (typed.length > maxTyped) return undefined
  const code = typedCode(typed).toUpperCase()
  return code.length === length && [...code].every((letter) => letters.includes(letter)) ? code : undefined
}
