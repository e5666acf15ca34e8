import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from '@grantry/adapters/node'
import { createProvider, hashSecret, type Provider, signingKeys } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { signInPlugins } from '@grantry/plugins/sign-in-plugins'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createBrowser } from './browser.ts'
import { createGrantry } from './grantry.ts'
import { createSite, sitePaths } from './site.ts'

const issuer = 'http://127.0.0.1:3000'
const clientSecret = 'the secret of this provider at the other one'

/** Another provider on this machine, with one user. */
async function openCompany() {
  let company: Provider | undefined
  const server = await serve({
    issuer: 'http://127.0.0.1',
    fetch: async (request) => company?.fetch(request) ?? new Response(null, { status: 503 }),
  })
  const origin = `http://127.0.0.1:${server.port}`
  company = await createProvider({
    issuer: origin,
    keys: signingKeys(),
    storage: memoryDriver(),
    users: {
      authenticate: ({ username, password }) =>
        username === 'alice' && password === 'secret' ? { sub: '1' } : undefined,
      claims: () => ({ name: 'Alice Smith' }),
    },
    clients: [
      {
        clientId: 'grantry',
        secrets: [hashSecret(clientSecret)],
        grantTypes: ['authorization_code'],
        scopes: ['openid', 'profile', 'email'],
        redirectUris: [`${issuer}/connect/upstream/company/callback`],
        requireConsent: false,
      },
    ],
    plugins: signInPlugins({ pages: createPages() }),
  })
  return { origin, fetch: company.fetch, close: () => server.close(0) }
}

test('alice signs in at the other provider', async () => {
  const company = await openCompany()
  const env = {
    ISSUER: issuer,
    GRANTRY_KEY_SECRET: 'a secret with 32 characters, for this test',
    CLIENT_SECRET: 'the secret of the client in this test',
    COMPANY_ISSUER: company.origin,
    COMPANY_CLIENT_ID: 'grantry',
    COMPANY_CLIENT_SECRET: clientSecret,
  }
  const provider = await createGrantry(env, { storage: memoryDriver() })
  const site = createSite(provider, env)
  const browser = createBrowser(issuer, (request) => {
    const { origin, pathname } = new URL(request.url)
    if (origin === company.origin) return company.fetch(request)
    return sitePaths.includes(pathname) ? site(request) : provider.fetch(request)
  })

  const form = await browser.open('/sign-in')
  assert.equal(form.url.origin, company.origin)
  const page = await browser.submit(form, { username: 'alice', password: 'secret' })
  assert.equal(page.url.pathname, '/callback')
  assert.match(page.html, /Signed in as Alice/u)
  await provider.close()
  await company.close()
})
