import { describe, expect, test } from 'vitest'
import { readAll } from '../../plugins/mtls/der.ts'

const octets = (count: number): number[] => Array.from({ length: count }, () => 0x55)
const read = (...bytes: readonly number[]): readonly number[] =>
  readAll(Uint8Array.from(bytes)).map(({ content }) => content.length)

// X.690 section 10.1. Two encodings of one certificate would have two thumbprints.
describe('a length of DER', () => {
  test.each<[string, readonly number[], number]>([
    ['0 in one octet', [0x00], 0],
    ['127 in one octet', [0x7f], 127],
    ['128 in two octets', [0x81, 0x80], 128],
    ['255 in two octets', [0x81, 0xff], 255],
    ['256 in three octets', [0x82, 0x01, 0x00], 256],
    ['65535 in three octets', [0x82, 0xff, 0xff], 65_535],
  ])('is %s', (_, form, length) => {
    expect(read(0x04, ...form, ...octets(length))).toEqual([length])
  })

  test.each<[string, readonly number[], number]>([
    ['0 in two octets', [0x81, 0x00], 0],
    ['127 in two octets', [0x81, 0x7f], 127],
    ['127 in three octets', [0x82, 0x00, 0x7f], 127],
    ['128 in three octets', [0x82, 0x00, 0x80], 128],
    ['255 in three octets', [0x82, 0x00, 0xff], 255],
    ['128 in four octets', [0x83, 0x00, 0x00, 0x80], 128],
    ['65536 in four octets', [0x83, 0x01, 0x00, 0x00], 65_536],
    ['256 in four octets, the last of which is ignored', [0x83, 0x01, 0x00, 0x00], 256],
    ['indefinite', [0x80], 0],
    ['reserved', [0xff], 0],
    ['incomplete, without a second octet', [0x81], 0],
    ['incomplete, without a third octet', [0x82, 0x01], 0],
    ['longer than the content', [0x05], 4],
    ['longer than the content by one, in two octets', [0x81, 0x81], 128],
  ])('is never %s', (_, form, length) => {
    expect(() => read(0x04, ...form, ...octets(length))).toThrow('Not DER')
  })

  test('is missing', () => {
    expect(() => read(0x04)).toThrow('Not DER')
  })
})

test('a tag of DER has one octet', () => {
  expect(() => read(0x1f, 0x01, 0x55)).toThrow('Not DER')
  expect(read(0x1e, 0x01, 0x55, 0x3e, 0x00)).toEqual([1, 0])
})
