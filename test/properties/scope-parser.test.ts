import { isOAuthError } from '@grantry/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseScope } from '../../packages/core/src/grants/scope-policy.ts'
import { anyCharacter } from '../support/any-character.ts'
import { isLong } from '../support/rounds.ts'

/** RFC 6749 section 3.3: %x21 / %x23-5B / %x5D-7E. */
const allowed = Array.from({ length: 0x7e - 0x21 + 1 }, (_, index) => String.fromCharCode(0x21 + index)).filter(
  (character) => character !== '"' && character !== '\\',
)
const name = fc.string({ unit: fc.constantFrom(...allowed), minLength: 1, maxLength: 20 })
const names = fc.array(name, { minLength: 1, maxLength: 20 })

/** The thrown value, which must be a refusal; anything else fails the test. */
function refusalOf(value: string): string | undefined {
  try {
    parseScope(value)
    return undefined
  } catch (error) {
    if (!isOAuthError(error)) throw error
    expect(error.code).toBe('invalid_scope')
    return error.details.reason
  }
}

describe('the scope parser', () => {
  test('keeps every name once, in the order of its first occurrence', () => {
    fc.assert(
      fc.property(names, fc.array(fc.nat(), { maxLength: 10 }), (list, again) => {
        const repeated = [...list, ...again.map((index) => list[index % list.length] ?? '')]
        expect(parseScope(repeated.join(' '))).toEqual([...new Set(list)])
      }),
    )
  })

  test('returns its own result unchanged', () => {
    fc.assert(
      fc.property(names, (list) => {
        const parsed = parseScope(list.join(' '))
        expect(parseScope(parsed.join(' '))).toEqual(parsed)
      }),
    )
  })

  test('rejects a character outside RFC 6749 section 3.3, in any place', () => {
    const bad = fc.oneof(
      fc.constantFrom('"', '\\', '\t', '\n', '\r', '\0', '\x7f', '\u00a0', '\u2003', 'é', '\ufeff', '\ud800'),
      fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }).filter((c) => c !== ' ' && !allowed.includes(c)),
    )
    const around = fc.string({ unit: fc.constantFrom(...allowed), maxLength: 5 })
    fc.assert(
      fc.property(
        fc.array(name, { maxLength: 3 }),
        around,
        bad,
        around,
        fc.array(name, { maxLength: 3 }),
        (l, a, b, z, r) => {
          expect(refusalOf([...l, `${a}${b}${z}`, ...r].join(' '))).toBe('scope_malformed')
        },
      ),
      { numRuns: isLong ? 20_000 : 200 },
    )
  })

  test('ignores spaces that separate nothing: first, last, doubled, alone', () => {
    const spaces = fc.integer({ min: 0, max: 5 }).map((count) => ' '.repeat(count))
    fc.assert(
      fc.property(fc.array(fc.tuple(name, spaces), { maxLength: 10 }), spaces, (list, first) => {
        const text = first + list.map(([word, more]) => `${word} ${more}`).join('')
        expect(parseScope(text)).toEqual([...new Set(list.map(([word]) => word))])
      }),
    )
  })

  test('accepts 1000 characters and rejects more, of any kind', () => {
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 50 }), (list, more) => {
        const fits = list.join(' ').padEnd(1000, 'x')
        expect(parseScope(fits).join(' ').length).toBeLessThanOrEqual(1000)
        expect(refusalOf(fits)).toBeUndefined()
        expect(refusalOf(fits + 'x'.repeat(more))).toBe('scope_too_long')
        expect(refusalOf(fits + ' '.repeat(more))).toBe('scope_too_long')
      }),
    )
  })

  test('parses or rejects any text, and throws nothing else', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 1100 }), (value) => {
        expect([undefined, 'scope_malformed', 'scope_too_long']).toContain(refusalOf(value))
      }),
      { numRuns: isLong ? 20_000 : 200 },
    )
  })
})
