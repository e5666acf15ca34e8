import { isOAuthError } from '@grantry/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseParameters } from '../../packages/core/src/http/parameters.ts'
import { anyCharacter } from '../support/any-character.ts'
import { isLong } from '../support/rounds.ts'

/** Every code point except lone surrogates, which UTF-8 cannot encode. */
const text = fc.string({ unit: anyCharacter, maxLength: 20 })
// The two that RFC 8707 and RFC 8693 allow to be repeated are exceptions.
const name = text.filter((candidate) => !['resource', 'audience'].includes(candidate))
const entries = fc.uniqueArray(fc.tuple(name, text), { selector: ([key]) => key, maxLength: 8 })

const expectedOf = (pairs: readonly (readonly [string, string])[]): Record<string, string> =>
  Object.assign(Object.create(null), Object.fromEntries(pairs.filter(([, value]) => value !== '')))

/** Each byte percent-encoded, in either case, whether necessary or not. */
const overEncoded = (value: string, upper: boolean): string =>
  [...new TextEncoder().encode(value)]
    .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
    .map((escaped) => (upper ? escaped.toUpperCase() : escaped))
    .join('')

/** The thrown value, which must be a refusal with this reason; anything else fails the test. */
function refusalOf(input: string): string | undefined {
  try {
    parseParameters(input)
    return undefined
  } catch (error) {
    if (!isOAuthError(error)) throw error
    expect(error.code).toBe('invalid_request')
    return error.details.reason
  }
}

describe('the form parser', () => {
  test('reads back the output of a standard encoder', () => {
    fc.assert(
      fc.property(entries, (pairs) => {
        const encoded = new URLSearchParams(pairs.map(([key, value]) => [key, value])).toString()
        expect({ ...parseParameters(encoded) }).toEqual({ ...expectedOf(pairs) })
      }),
    )
  })

  test('reads one value however much of it is encoded', () => {
    fc.assert(
      fc.property(entries, fc.boolean(), (pairs, upper) => {
        const parts = pairs.map(([key, value]) => `${overEncoded(key, upper)}=${overEncoded(value, upper)}`)
        expect({ ...parseParameters(parts.join('&')) }).toEqual({ ...expectedOf(pairs) })
      }),
    )
  })

  test('agrees with URLSearchParams on everything that it accepts', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab=&%+2541fFzé'), maxLength: 30 }), (input) => {
        if (refusalOf(input) !== undefined) return
        const standard = [...new URLSearchParams(input)]
        // URLSearchParams only drops a leading question mark, which is not in the alphabet.
        expect({ ...parseParameters(input) }).toEqual({ ...expectedOf(standard.map(([key, value]) => [key, value])) })
      }),
      { numRuns: isLong ? 20_000 : 250 },
    )
  })

  test('has no prototype, whatever the names are', () => {
    const odd = fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf')
    fc.assert(
      fc.property(odd, text, (key, value) => {
        const parsed = parseParameters(new URLSearchParams({ [key]: `x${value}` }).toString())
        expect(Object.getPrototypeOf(parsed)).toBeNull()
        expect(Object.keys(parseParameters(''))).toEqual([])
        expect(Object.hasOwn({}, key)).toBe(false)
      }),
    )
  })

  test('rejects a repeated name, in any place, with any values, in any encoding', () => {
    fc.assert(
      fc.property(
        entries,
        name,
        text,
        text,
        fc.boolean(),
        fc.nat(),
        fc.nat(),
        (pairs, key, first, second, upper, i, j) => {
          const parts = pairs
            .filter(([otherKey]) => otherKey !== key)
            .map(([k, v]) => new URLSearchParams({ [k]: v }).toString())
          const insert = (at: number, part: string): void => void parts.splice(at % (parts.length + 1), 0, part)
          insert(i, `${overEncoded(key, upper)}=${overEncoded(first, upper)}`)
          insert(j, new URLSearchParams([[key, second]]).toString())
          expect(refusalOf(parts.join('&'))).toBe('repeated_parameter')
        },
      ),
    )
  })

  test('rejects malformed percent-encoding, in any place', () => {
    const hexDigit = /^[0-9a-f]$/iu
    const notHex = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }).filter((c) => !hexDigit.test(c))
    const hex = fc.constantFrom(...'0123456789abcdefABCDEF')
    const malformed = fc.oneof(
      notHex.map((c) => `%${c}`),
      fc.tuple(hex, notHex).map(([a, b]) => `%${a}${b}`),
      fc.constantFrom('%', '%4', '%C3', '%80', '%FF', '%C0%80', '%E2%82', '%ED%BF%BF', '%F4%90%80%80', '%c3%28'),
    )
    const plain = fc.string({ unit: fc.constantFrom(...'abc _.-+=é'), maxLength: 10 })
    fc.assert(
      fc.property(
        plain,
        malformed,
        plain.filter((after) => !/^[0-9a-f%]/iu.test(after)),
        (before, bad, after) => {
          // A separator would end the escape: it is also malformed, and may start a repeated name.
          fc.pre(!bad.includes('&'))
          expect(refusalOf(`${before}${bad}${after}`)).toBe('malformed_encoding')
        },
      ),
      { numRuns: isLong ? 20_000 : 200 },
    )
  })

  test('parses or rejects any text, and throws nothing else', () => {
    const any = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.string({ unit: fc.constantFrom(...'%&=+0afz', '\ud800', '\udc00') }),
    )
    fc.assert(
      fc.property(any, (input) => {
        expect([undefined, 'repeated_parameter', 'malformed_encoding']).toContain(refusalOf(input))
      }),
      { numRuns: isLong ? 20_000 : 250 },
    )
  })
})
