// Codes as people type, paste, or let a program fill them in.
import { describe, expect, test } from 'vitest'
import { typedUserCode } from '../../plugins/device-authorization/user-code.ts'
import { typedCode } from '../../plugins/shared/typed-code.ts'

const digits = (zero: number): string => String.fromCodePoint(...[1, 2, 3, 4, 5, 6].map((digit) => zero + digit))

describe('a code of digits', () => {
  test.each([
    ['groups', '123 456'],
    ['a no-break space', '123\u00a0456'],
    ['a narrow space', ' 123\u202f456 '],
    ['dashes', '123-456'],
    ['a dash of a word processor', '123\u2013456'],
    ['a minus', '123\u2212456'],
    ['single digits', '1 2 3 4 5 6'],
    ['a line break', '123456\r\n'],
    ['marks of a direction', '\u200e\u2068123456\u2069'],
    ['full width', digits(0xff10)],
    ['Arabic digits', digits(0x660)],
    ['Persian digits', digits(0x6f0)],
    ['Devanagari digits', digits(0x966)],
    ['Bengali digits', digits(0x9e6)],
    ['Thai digits', digits(0xe50)],
    ['Burmese digits', digits(0x1040)],
    ['bold digits', digits(0x1d7ce)],
    ['Adlam digits', digits(0x1e950)],
    ['two alphabets', '12\u0663 \u06f456'],
  ])('with %s', (_, typed) => {
    expect(typedCode(typed)).toBe('123456')
  })

  test('knows the value of each digit', () => {
    const wrong: string[] = []
    for (let code = 0; code <= 0x1fbff; code += 1) {
      const character = String.fromCodePoint(code)
      if (/\p{Nd}/u.test(character) && !/^[0-9]$/u.test(typedCode(character))) wrong.push(code.toString(16))
    }
    expect(wrong).toEqual([])
    expect([0x660, 0x6f0, 0x966, 0x1e950].map((zero) => typedCode(String.fromCodePoint(zero, zero + 9)))).toEqual([
      '09',
      '09',
      '09',
      '09',
    ])
  })

  test.each(['12345', '1234567', '12345a', '\u2460\u2461', ''])('%j is not one', (typed) => {
    expect(typedCode(typed)).not.toBe('123456')
  })
})

test.each([
  'wdjb-mjht',
  'WDJB MJHT',
  '\uff37\uff24\uff2a\uff22\u2014\uff2d\uff2a\uff28\uff34',
  'wdjb\u200b_mjht',
  'WDJB\u30fbMJHT'.replace('\u30fb', '\u00b7'),
])('the code of a device is read from %j', (typed) => {
  expect(typedUserCode(typed)).toBe('WDJBMJHT')
})
