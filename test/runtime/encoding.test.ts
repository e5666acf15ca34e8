import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { base64url, decodeBase64, decodeBase64url, decodeUtf8, hex, utf8 } from '../../packages/core/src/runtime.ts'
import { anyCharacter } from '../support/any-character.ts'

// Pure functions, compared with Buffer over random inputs: every credential, hash and key goes through them.

const bytes = fc.uint8Array({ maxLength: 200 })
const forBytes = (judge: (data: Uint8Array) => void) =>
  fc.assert(
    fc.property(bytes, (data) => {
      judge(data)
    }),
    { numRuns: 1000 },
  )

describe('encoding agrees with Buffer', () => {
  test('hex', () => {
    forBytes((data) => expect(hex(data)).toBe(Buffer.from(data).toString('hex')))
  })

  test('hex of every byte', () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    expect(hex(all)).toBe(Buffer.from(all).toString('hex'))
  })

  test('base64url', () => {
    forBytes((data) => expect(base64url(data)).toBe(Buffer.from(data).toString('base64url')))
  })

  test('base64url of a megabyte: no limit on arguments is hit', () => {
    const large = new Uint8Array(1024 * 1024).fill(251)
    expect(base64url(large)).toBe(Buffer.from(large).toString('base64url'))
  })

  test('decodes base64url', () => {
    forBytes((data) => expect(decodeBase64url(base64url(data))).toEqual(data))
  })

  test('decodes base64', () => {
    forBytes((data) => expect(decodeBase64(Buffer.from(data).toString('base64'))).toEqual(data))
  })

  test('UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(Buffer.from(utf8(text)).equals(Buffer.from(text, 'utf8'))).toBe(true)
        expect(decodeUtf8(utf8(text))).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })

  test('bytes are text exactly when they survive a round trip', () => {
    forBytes((data) => {
      const text = Buffer.from(data).toString('utf8')
      const isUtf8 = Buffer.from(text, 'utf8').equals(data)
      expect(decodeUtf8(data)).toBe(isUtf8 ? text : undefined)
    })
  })
})

describe('decodeUtf8() rejects', () => {
  test.each([
    ['a lone continuation byte', [0x80]],
    ['a truncated sequence', [0xe2, 0x82]],
    ['an overlong slash: it would pass a filter for /', [0xc0, 0xaf]],
    ['an overlong NUL', [0xc0, 0x80]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a code point above the maximum', [0xf4, 0x90, 0x80, 0x80]],
    ['a byte that never occurs in UTF-8', [0xff]],
  ])('%s', (_what, data) => {
    expect(decodeUtf8(Uint8Array.from([0x61, ...data, 0x62]))).toBeUndefined()
  })

  test('a leading U+FEFF is kept: two byte strings never become one text', () => {
    expect(decodeUtf8(Uint8Array.from([0xef, 0xbb, 0xbf, 0x61]))).toBe('\u{FEFF}a')
  })
})

// atob() or Buffer tolerates each of these.
const malformed: readonly [what: string, base64: string, base64url: string][] = [
  ['white space inside', 'aGVs bG8=', 'aGVs bG8'],
  ['a trailing line break', 'aGVsbG8=\n', 'aGVsbG8\n'],
  ['leading white space', ' aGVsbG8=', ' aGVsbG8'],
  ['the other alphabet', 'a-_s', 'a+/s'],
  ['the other padding', 'aGVsbG8', 'aGVsbG8='],
  ['one character too many', 'aGVsb', 'aGVsb'],
  ['padding only', '====', '=='],
  ['padding inside', 'aG=sbG8=', 'aG=sbG8'],
  ['too much padding', 'aGVsbG8==', 'aGVsbG8=='],
  ['a character outside the alphabet', 'aGVs*G8=', 'aGVs*G8'],
  ['a letter outside ASCII', 'aGVsbGé=', 'aGVsbGé'],
  ['a NUL', 'aGVsbG8=\0', 'aGVsbG8\0'],
]

describe('rejects malformed base64', () => {
  test.each(malformed)('%s: base64', (_what, text) => {
    expect(decodeBase64(text)).toBeUndefined()
  })

  test.each(malformed)('%s: base64url', (_what, _text, text) => {
    expect(decodeBase64url(text)).toBeUndefined()
  })

  test('any text is rejected or decoded like Buffer does, and never throws', () => {
    const alphabet = fc.constantFrom(...'ABYZabyz0189+/-_= \n'.split(''))
    const text = fc.oneof(
      fc.string({ unit: alphabet, maxLength: 24 }),
      fc.string({ unit: anyCharacter, maxLength: 24 }),
    )
    fc.assert(
      fc.property(text, (candidate) => {
        const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/u.test(candidate) && candidate.length % 4 === 0
        const isBase64url = /^[\w-]*$/u.test(candidate) && candidate.length % 4 !== 1
        const expected = (encoding: 'base64' | 'base64url') => Uint8Array.from(Buffer.from(candidate, encoding))
        expect(decodeBase64(candidate)).toEqual(isBase64 ? expected('base64') : undefined)
        expect(decodeBase64url(candidate)).toEqual(isBase64url ? expected('base64url') : undefined)
      }),
      { numRuns: 5000 },
    )
  })

  test('an empty text decodes to no bytes', () => {
    expect(decodeBase64('')).toEqual(new Uint8Array())
    expect(decodeBase64url('')).toEqual(new Uint8Array())
  })

  // A form may have 64 KiB: a backtracking pattern would stall the process on one request.
  test('a long text is validated like a short one', () => {
    const long = 'A'.repeat(65_536)
    expect(decodeBase64(long)).toHaveLength(49_152)
    expect(decodeBase64(`${long}*`)).toBeUndefined()
    expect(decodeBase64url(`${long}*`)).toBeUndefined()
  })
})
