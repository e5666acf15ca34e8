import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { answer } from './browser.ts'
import { setUpPages } from './own-pages.ts'

test('a place in the list of authorizations costs one hash, and not one for each place', async () => {
  let count = 0
  const hash = (data: Uint8Array | string) => {
    count += 1
    return createHash('sha256').update(data)
  }
  const sha256 = (data: Uint8Array) => new Uint8Array(hash(data).digest())
  const f = await setUpPages({}, { runtime: { sha256, sha256Hex: (text) => hash(text).digest('hex') } })
  const browser = f.browser()
  await f.signIn(browser)
  const before = count
  // The first one in the list: no other one can have its place.
  const code = await f.ask(browser, { scope: 'openid offline_access', prompt: 'none' })
  expect(answer(code)).toHaveProperty('code')
  // It was 210: two for each place.
  expect(count - before).toBeLessThanOrEqual(20)
})
