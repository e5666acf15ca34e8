// The QR code of an authenticator app. The hashes are those of symbols that two other libraries draw and read in the same
// way (decision 165).
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { qrCode } from '../../packages/pages/src/account/qr-code.ts'

const uri = (length: number): string => `otpauth://totp/id.example.com:alice?secret=${'A'.repeat(300)}`.slice(0, length)

const hashOf = (text: string): string => {
  const rows = (qrCode(text) ?? []).map((row) => row.map((isDark) => (isDark ? '#' : '.')).join(''))
  return createHash('sha256').update(rows.join('\n')).digest('hex').slice(0, 16)
}

describe('a QR code', () => {
  test.each([17, 50, 106, 134, 154, 230, 271])('of %i bytes is the known symbol', (length) => {
    expect(hashOf(uri(length))).toMatchSnapshot()
  })

  test('has the size of its version, and finder patterns in three corners', () => {
    for (const [length, size] of [
      [17, 21],
      [18, 25],
      [106, 37],
      [271, 57],
    ] as const) {
      const modules = qrCode(uri(length)) ?? []
      expect([modules.length, modules.every((row) => row.length === size)]).toEqual([size, true])
      const corner = [true, true, true, true, true, true, true, false]
      expect(modules[0]?.slice(0, 8)).toEqual(corner)
      expect(modules[size - 1]?.slice(0, 8)).toEqual(corner)
      expect(modules.map((row) => row[size - 1]).slice(0, 8)).toEqual(corner)
    }
  })

  test('is none of a text that is too long, which is only shown', () => {
    expect(qrCode('a'.repeat(272))).toBeUndefined()
  })
})
