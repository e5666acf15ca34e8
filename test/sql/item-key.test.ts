// The keys of items in SQL: packed without loss, and short for the keys of the core.

import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { packedRanges, packKey, unpackKey } from '../../packages/storage-drivers/src/sql/item-key.ts'
import { hostileKeys } from '../../packages/testing/src/drivers/hostile-keys.ts'

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
const keys = [
  ...hostileKeys('code:stem'),
  ...['code', 'spent:refresh', 'plugin'].map((kind) => `${kind}:${hashOf(kind)}`),
  hashOf('alone'),
  `code:${hashOf('upper').toUpperCase()}`,
  `code:${hashOf('long')}0`,
  `code:${hashOf('short').slice(1)}`,
  '',
]

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const isIn = (key: string, base: string): boolean =>
  packedRanges(base).some(
    ([from, below]) => Buffer.compare(packKey(key), from) >= 0 && Buffer.compare(packKey(key), below) < 0,
  )

describe('the packed key of an item', () => {
  test('is unpacked to the same key', () => {
    expect(keys.map((key) => unpackKey(packKey(key)))).toEqual(keys)
  })

  test('differs for different keys', () => {
    expect(new Set(keys.map((key) => textOf(packKey(key)))).size).toBe(new Set(keys).size)
  })

  test('has a hash as 32 bytes', () => {
    expect(packKey(`spent:code:${hashOf('token')}`)).toHaveLength(1 + 'spent:code:'.length + 32)
  })

  test.each(['\ud800', 'code:\udc00'])('is refused for text that is not Unicode: %j', (key) => {
    expect(() => packKey(key)).toThrow('not well-formed Unicode')
  })

  test('is refused if it is long', () => {
    expect(packKey('é'.repeat(511))).toHaveLength(1023)
    expect(() => packKey('é'.repeat(512))).toThrow('takes 1025 bytes; the maximum is 1024')
  })

  test.each(['', 'co', 'code:', 'code:stem', `code:${'ab'.repeat(3)}`, `code:${hashOf('code')}`, 'é'])(
    'is in a range of keys that start with %j if its key does',
    (base) => {
      for (const key of keys.filter((each) => each.startsWith(base))) expect(isIn(key, base)).toBe(true)
      const others = ['d', `zz:${hashOf('code')}`]
      for (const key of others) expect(isIn(key, base)).toBe(base === '')
    },
  )
})
