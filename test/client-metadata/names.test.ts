// Attack: a client that describes itself has a name whose marks climb over other lines of the page.
import { describe, expect, test } from 'vitest'
import { selfDescribedMembers } from '../../plugins/shared/self-described.ts'

const shown = (name: string) =>
  selfDescribedMembers({ client_name: name }, [], { refreshToken: {}, selfDescribed: 'ask' }).clientName

describe('the name of a client that describes itself', () => {
  test.each([
    ['keeps two marks of a letter', `Z${'\u0351'.repeat(50)}algo`, 'Z\u0351\u0351algo'],
    ['keeps no marks without a letter', `\u0300\u0301\u20DD App`, 'App'],
    ['joins letters and their marks', 'Cafe\u0301', 'Caf\u00E9'],
    ['keeps the marks of Thai', '\u0E19\u0E49\u0E33 \u0E17\u0E35\u0E48', '\u0E19\u0E49\u0E33 \u0E17\u0E35\u0E48'],
  ])('%s', (_what, name, expected) => {
    expect(shown(name)).toBe(expected)
  })

  test('ends with no half of a character', () => {
    expect(shown(`${'a'.repeat(99)}\u{1F600}tail`)).toBe('a'.repeat(99))
  })

  test('is limited before it is normalized', () => {
    expect(shown(`a${'\u0316\u0301'.repeat(500_000)}`)?.length).toBeLessThanOrEqual(3)
  })
})
