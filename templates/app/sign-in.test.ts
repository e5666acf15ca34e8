import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createBrowser } from './browser.ts'
import { createGrantry } from './grantry.ts'
import { createSite, sitePaths } from './site.ts'

const issuer = 'http://127.0.0.1:3000'
const password = 'the password of this test'
const env = {
  ISSUER: issuer,
  GRANTRY_KEY_SECRET: 'a secret with 32 characters, for this test',
  CLIENT_SECRET: 'the secret of the client in this test',
  ALICE_PASSWORD: password,
}

test('alice signs in, and not with another password', async () => {
  const provider = await createGrantry(env, { storage: memoryDriver() })
  const site = createSite(provider, env)
  const browser = createBrowser(issuer, (request) =>
    sitePaths.includes(new URL(request.url).pathname) ? site(request) : provider.fetch(request),
  )

  const form = await browser.open('/sign-in')
  const refused = await browser.submit(form, { username: 'alice', password: 'another password' })
  assert.notEqual(refused.url.pathname, '/callback')
  const page = await browser.submit(refused, { username: 'alice', password })
  assert.equal(page.url.pathname, '/callback')
  assert.match(page.html, /Signed in as Alice/u)
  await provider.close()
})
