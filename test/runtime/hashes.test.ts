/**
 * Attack: tokens are derived from hashes. A host function that returns too few bytes, or hex text, would give all users
 * the same tokens.
 */

import { createHash } from 'node:crypto'
import type { Runtime } from '@grantry/core'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const start = (runtime: object) => createTestProvider({ plugins: [], runtime: runtime as Partial<Runtime> })
const digest = (algorithm: string) => (data: Uint8Array) => new Uint8Array(createHash(algorithm).update(data).digest())

describe('the hashes of a runtime', () => {
  test.each<[string, object]>([
    ['sha512 with too few bytes', { sha512: () => new Uint8Array(3) }],
    ['sha512 that is SHA-256', { sha512: digest('sha256') }],
    ['sha512 as hex text', { sha512: (data: Uint8Array) => createHash('sha512').update(data).digest('hex') }],
    ['sha512 as an ArrayBuffer', { sha512: async (data: Uint8Array) => digest('sha512')(data).buffer }],
    ['sha256 that is SHA-512', { sha256: digest('sha512') }],
    ['sha256Hex as base64', { sha256Hex: (text: string) => createHash('sha256').update(text).digest('base64') }],
  ])('are refused at start: %s', async (name, runtime) => {
    await expect(start(runtime)).rejects.toThrow(
      new TypeError(`createProvider(): runtime.${name.split(' ')[0]} does not return a hash of its length`),
    )
  })

  test('can be asynchronous, if it is sha512', async () => {
    await start({ sha512: async (data: Uint8Array) => digest('sha512')(data), sha256: digest('sha256') })
  })
})
