// The ready server with providers and the page of the account.
import { parseConfiguration } from '@grantry/core'
import { hashPassword } from '@grantry/users/password-hash'
import { afterEach, expect, test } from 'vitest'
import { createBrowser, hiddenFields } from '../authorization/browser.ts'
import { configurationSchema } from '../support/configuration-schema.ts'
import { startServer } from '../support/patient-server.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const issuer = 'http://127.0.0.1:8485'

test('lists the configured providers on the page of the account', async () => {
  const content = {
    issuer,
    storage: { driver: 'memory' },
    clients: [],
    users: [{ sub: 'u', username: 'alice', password: await hashPassword('alice-password') }],
    plugins: [
      {
        name: 'sign-in',
        account: {},
        providers: [
          { name: 'acme', displayName: 'Acme', issuer: 'https://acme.example', clientId: 'c', clientSecret: 's' },
        ],
      },
    ],
  }
  const configuration = parseConfiguration(configurationSchema, content, '')
  const loaded = { configuration, file: 'grantry.config.json', directory: '.' }
  const server = await startServer({ loaded, port: 0, observe: () => {} })
  closing.push(() => server.close(0))
  const browser = createBrowser(server.provider)
  const login = await browser.open(`${issuer}/account`)
  const fields = { ...hiddenFields(login), username: 'alice', password: 'alice-password' }
  const page = await browser.submit(`${issuer}/connect/signin`, fields)
  expect(page.html).toContain(`href="${issuer}/account/providers/add/acme"`)
})
