import { X509Certificate } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCertificate } from '../../plugins/mtls/certificate.ts'
import { readAll } from '../../plugins/mtls/der.ts'
import { nameIn, parseName } from '../../plugins/mtls/distinguished-name.ts'
import { anyCharacter } from '../support/any-character.ts'
import { type Attribute, alternativeNames, certificate, nameOf } from './certificates.ts'

const text = fc.string({
  unit: fc.oneof(fc.constantFrom(...' ,+="\\<>;#aAéÉß\u0130\u212a'), anyCharacter),
  maxLength: 8,
})
const attribute = fc.tuple(
  fc.constantFrom('CN', 'O', 'OU', '1.2.3.4'),
  text.filter((value) => !/\p{Surrogate}/u.test(value)),
)
const name = fc.array(fc.array(attribute, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 })
type Name = readonly (readonly Attribute[])[]

/** Writes a name as RFC 4514 section 2 requires. */
function written(relativeNames: Name): string {
  const escaped = (value: string): string => value.replace(/^[ #]| $|["+,;<>\\]/gu, '\\$&').replaceAll('\0', '\\00')
  return relativeNames
    .map((attributes) => attributes.map(([type, value]) => `${type}=${escaped(String(value))}`).join('+'))
    .reverse()
    .join(',')
}

const nameInDer = (relativeNames: Name): string => {
  const [value] = readAll(nameOf(...relativeNames))
  return value === undefined ? '' : nameIn(value)
}

describe('a distinguished name', () => {
  test('is equal to the one that is written as in RFC 4514', () => {
    fc.assert(
      fc.property(
        name,
        (relativeNames) => void expect(parseName(written(relativeNames))).toBe(nameInDer(relativeNames)),
      ),
    )
  })

  test('is equal to another one only if they differ in case and spaces at most', () => {
    const plain = (relativeNames: Name): string =>
      JSON.stringify(
        relativeNames.map((attributes) =>
          attributes.map(([type, value]) => `${type}=${String(value).toLowerCase().replace(/ +/gu, '')}`).sort(),
        ),
      )
    fc.assert(
      fc.property(name, name, (first, second) => {
        if (plain(first) !== plain(second)) expect(nameInDer(first)).not.toBe(nameInDer(second))
      }),
    )
  })

  test('can be any text without an exception', () => {
    fc.assert(fc.property(text, (any) => void parseName(`CN=${any}`)))
  })
})

test('the period and the key of a certificate are those that Node.js reads, whatever changes in it', () => {
  const original = certificate({ extensions: [alternativeNames([2, 'a.example'], [7, Buffer.from([192, 0, 2, 1])])] })
  const bytes = Buffer.from(original.der, 'base64')
  const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255))
  let accepted = 0
  fc.assert(
    fc.property(fc.array(change, { maxLength: 3 }), (changes) => {
      const changed = Buffer.from(bytes)
      for (const [at, value] of changes) changed[at] = value
      const read = readCertificate(changed.toString('base64'))
      if (read === undefined) return
      let expected: X509Certificate
      let key: object
      try {
        expected = new X509Certificate(changed)
        key = expected.publicKey.export({ format: 'jwk' })
      } catch {
        // Node.js checks more, such as the algorithms and that the key is a point of the curve.
        return
      }
      accepted += 1
      expect(read.notBefore).toBe(Date.parse(expected.validFrom) / 1000)
      expect(read.notAfter).toBe(Date.parse(expected.validTo) / 1000)
      // Node.js also reads points in the hybrid form, which RFC 5480 section 2.2 forbids.
      if (read.key !== undefined) expect(read.key).toEqual(key)
    }),
    { numRuns: 1000 },
  )
  expect(accepted).toBeGreaterThan(50)
})
