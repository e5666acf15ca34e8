import { basic } from '@grantry/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formDecoded, parseBasic } from '../../packages/core/src/credentials/methods.ts'
import { anyCharacter } from '../support/any-character.ts'
import { isLong } from '../support/rounds.ts'

const secret = fc.string({ unit: anyCharacter, maxLength: 100 })
const id = secret.map((text) => text.replaceAll(':', ''))
const formEncoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)

describe('the Basic parser', () => {
  test('reads back any pair, raw', () => {
    fc.assert(
      fc.property(id, secret, (clientId, clientSecret) => {
        expect(parseBasic(basic([clientId, clientSecret]))).toEqual({ clientId, secret: clientSecret })
      }),
    )
  })

  test('splits at the first colon: an id contains none', () => {
    fc.assert(
      fc.property(secret, secret, (left, right) => {
        const complete = `${left}:${right}`
        const pair = parseBasic(basic([left, right]))
        expect(pair?.clientId).not.toContain(':')
        expect(`${pair?.clientId}:${pair?.secret}`).toBe(complete)
      }),
    )
  })

  test('reads the scheme in any case', () => {
    const scheme = fc.tuple(...[...'basic'].map((letter) => fc.constantFrom(letter, letter.toUpperCase())))
    fc.assert(
      fc.property(scheme, id, secret, (letters, clientId, clientSecret) => {
        const header = `${letters.join('')}${basic([clientId, clientSecret]).slice('Basic'.length)}`
        expect(parseBasic(header)).toEqual({ clientId, secret: clientSecret })
      }),
    )
  })

  test('never throws: returns a pair or nothing', () => {
    const any = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.string({ unit: anyCharacter }).map((rest) => `Basic ${rest}`),
      fc.string({ unit: fc.constantFrom(...'ABCDabcd0123+/=- ') }).map((rest) => `Basic ${rest}`),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => `Basic ${Buffer.from(bytes).toString('base64')}`),
    )
    fc.assert(
      fc.property(any, (header) => {
        const pair = parseBasic(header)
        if (pair === undefined) return
        // An accepted header has only one encoding: two headers never yield one pair.
        expect(basic([pair.clientId, pair.secret]).slice('Basic '.length)).toBe(
          canonical(header.slice('Basic '.length)),
        )
      }),
      { numRuns: isLong ? 20_000 : 200 },
    )
  })

  test('returns no pair for bytes that are not UTF-8', () => {
    const invalid = fc.constantFrom([0x80], [0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc3])
    const ascii = fc.uint8Array({ max: 0x7f, maxLength: 20 })
    fc.assert(
      fc.property(ascii, invalid, ascii, (before, bad, after) => {
        const bytes = Buffer.from([...before, ...bad, 0x3a, ...after])
        expect(parseBasic(`Basic ${bytes.toString('base64')}`)).toBeUndefined()
      }),
    )
  })
})

/** Clears the unused bits of the last base64 character, which a decoder ignores. */
const canonical = (base64: string): string => Buffer.from(base64, 'base64').toString('base64')

describe('form-decoding of a pair', () => {
  test('returns what a client that follows RFC 6749 meant, or the raw pair if nothing was encoded', () => {
    fc.assert(
      fc.property(secret, secret, (clientId, clientSecret) => {
        const meant = { clientId, secret: clientSecret }
        for (const encode of [formEncoded, encodeURIComponent]) {
          const sent = { clientId: encode(clientId), secret: encode(clientSecret) }
          expect(formDecoded(sent) ?? sent).toEqual(meant)
        }
      }),
    )
  })

  test('returns undefined if there is nothing to decode', () => {
    const plain = secret.map((text) => text.replaceAll(/[%+]/gu, ''))
    fc.assert(
      fc.property(plain, plain, (clientId, clientSecret) => {
        expect(formDecoded({ clientId, secret: clientSecret })).toBeUndefined()
      }),
    )
  })

  test('never throws', () => {
    const any = fc.string({ unit: fc.constantFrom(...'%+aF28zé:\ud800') })
    fc.assert(
      fc.property(any, any, (clientId, clientSecret) => {
        const pair = formDecoded({ clientId, secret: clientSecret })
        expect(pair === undefined || typeof pair.secret === 'string').toBe(true)
      }),
      { numRuns: isLong ? 20_000 : 200 },
    )
  })
})
