// The functions for Cloudflare Workers compute what hash-wasm computes in threads.
import { expect, test } from 'vitest'
import { bcryptKey, fractionOfPi } from '../../packages/users/src/password-hash/bcrypt.ts'
import { callInThread, type HashCall } from '../../packages/users/src/password-hash/hash-threads.ts'
import { callWithoutThreads } from '../../packages/users/src/password-hash/without-threads.ts'

const bytes = (length: number, first: number) => Uint8Array.from({ length }, (_, index) => (first + index * 37) % 256)

const passwords = [bytes(1, 97), bytes(7, 1), bytes(71, 9), bytes(72, 200), bytes(20, 255)]

test('the constants of Blowfish are the fraction of pi', () => {
  const words = fractionOfPi(18 + 1024)
  // The first and the last of the published tables.
  expect([words[0], words[17], words[18], words.at(-1)]).toEqual([0x243f6a88, 0x8979fb1b, 0xd1310ba6, 0x3ac372e6])
})

const calls: readonly HashCall[] = passwords.flatMap((password, index): readonly HashCall[] => {
  const common = { password, salt: bytes(16, index * 50), outputType: 'binary' } as const
  const cost = { memorySize: 64, iterations: 1 + (index % 3), parallelism: 1 + (index % 2), hashLength: 16 + index * 8 }
  return [
    { name: 'bcrypt', options: { ...common, costFactor: 4 + (index % 3) } },
    { name: 'argon2id', options: { ...common, ...cost } },
    { name: 'argon2i', options: { ...common, ...cost } },
  ]
})

test.each(calls)('%#: $name', async (call) => {
  expect(Buffer.from(await callWithoutThreads(call)).toString('hex')).toBe(
    Buffer.from(await callInThread(call)).toString('hex'),
  )
})

test('bcrypt lets other work of the thread run', async () => {
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 0)
  await bcryptKey(bytes(8, 1), bytes(16, 2), 8)
  clearInterval(timer)
  expect(turns).toBeGreaterThan(0)
})
