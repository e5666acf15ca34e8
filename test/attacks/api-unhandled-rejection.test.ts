/**
 * Attack (by circumstance): an API writes its refusals to a log that is down. Anyone can send a request without a token,
 * and an unhandled rejection ends a Node.js process.
 */
import { afterEach, expect, test } from 'vitest'
import { createApi, url } from '../resource-server/issuer.ts'

const unhandled: unknown[] = []
const note = (reason: unknown): void => {
  unhandled.push(reason)
}
afterEach(() => {
  process.off('unhandledRejection', note)
  unhandled.length = 0
})

test('a log that rejects leaves no unhandled rejection', async () => {
  const { api } = await createApi({ onRefusal: () => Promise.reject(new Error('the log is away')) })
  process.on('unhandledRejection', note)
  expect((await api.authorize(new Request(url))).reason).toBe('credentials_missing')
  await new Promise((resolve) => setImmediate(resolve))
  expect(unhandled).toEqual([])
})
