// The names that users choose: what looks like another name, or climbs over the lines around it, is none.
import { describe, expect, test } from 'vitest'
import { isNameForm } from '../../plugins/self-service/purposes.ts'

describe('a name can be', () => {
  test.each([
    'alice',
    'al1ce',
    'a.b-c_d',
    'ren\u00e9',
    'rene\u0301e',
    '\u0438\u0432\u0430\u043d',
    '\u6797\u6d77\u5cf0',
    '\u0645\u062d\u0645\u062f\u0639',
    '\u0938\u094d\u0924\u094d\u0930\u0940\u0928',
    '\u0e17\u0e35\u0e48\u0e23\u0e31\u0e01',
    // Vietnamese has two marks on a letter.
    'nguy\u1ec5n',
    // Burmese has four in a row.
    '\u101d\u103e\u102d\u102f\u1004',
    'a'.repeat(64),
  ])('%j', (name) => {
    expect(isNameForm(name)).toBe(true)
  })
})

describe('a name cannot be', () => {
  test.each([
    ['with a zero width space', 'al\u200bice'],
    ['with a zero width joiner', 'al\u200dice'],
    ['with a zero width non-joiner', 'al\u200cice'],
    ['with a word joiner', 'al\u2060ice'],
    ['with a soft hyphen', 'al\u00adice'],
    ['with a byte order mark', 'al\ufeffice'],
    ['with a mark for a direction', 'al\u200eice'],
    ['with a control that reverses the text', 'al\u202eice'],
    ['with an isolate', 'al\u2067ice'],
    // Letters and marks that are not seen: the form alone accepts them.
    ['with a filler of Hangul', 'al\u3164ice'],
    ['with a filler of Hangul in half width', 'al\uffa0ice'],
    ['with a leading consonant that is not seen', 'al\u115fice'],
    ['with a vowel that is not seen', 'al\u17b4ice'],
    ['with a grapheme joiner', 'al\u034fice'],
    ['with a selector of a variation', 'al\ufe0fice'],
    ['with a selector of another plane', 'al\u{e0101}ice'],
    ['with a selector of Mongolian', 'al\u180bice'],
    ['with a tag', 'al\u{e0061}ice'],
    ['with five marks on a letter', 'ale\u0301\u0302\u0303\u0304\u0305x'],
    ['with five marks, of which one is in the letter', 'al\u00e9\u0302\u0303\u0304\u0305x'],
    ['with sixty marks', `a${'\u0301'.repeat(60)}b`],
    ['with an enclosing mark five times', `a${'\u20dd'.repeat(5)}b`],
    ['that begins with a mark', '\u0301lice'],
    ['that ends with a mark only', 'a\u0301'],
    ['with a space', 'al ice'],
    ['with a line break', 'al\nice'],
    ['with an at sign', 'al@ice'],
    ['with a slash', 'al/ice'],
    ['with an emoji', 'al\u{1f600}ice'],
    ['of two characters', 'al'],
    ['of 65 characters', 'a'.repeat(65)],
    ['that begins with a dot', '.alice'],
    ['that ends with a hyphen', 'alice-'],
    ['without characters', ''],
  ])('%s', (_, name) => {
    expect(isNameForm(name)).toBe(false)
  })
})
