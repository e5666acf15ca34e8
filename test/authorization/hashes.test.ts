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
  const scope = 'openid offline_access'
  await f.signIn(browser, 'alice', { scope })
  const before = count
  expect(answer(await f.ask(browser, { scope, prompt: 'none' }))).toHaveProperty('code')
  // It was 210: two for each place.
  expect(count - before).toBeLessThanOrEqual(20)
})
