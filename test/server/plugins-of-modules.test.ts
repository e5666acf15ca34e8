// A module configuration contains plugins and functions. They must stay the objects that the module has created: plugins
// share schemas, which the provider compares by identity.

import { clientAssertion } from '@grantry/plugins/client-assertion'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { mtls } from '@grantry/plugins/mtls'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { withEnvironment } from '../../packages/server/src/configuration/environment.ts'

const reference = ['$', '{GRANTRY_TEST_NAME}'].join('')
const environment = { GRANTRY_TEST_NAME: 'replaced' }

describe('plugins of a module configuration', () => {
  test('can share members of clients: client_secret_jwt beside mutual TLS', async () => {
    const written = {
      clients: [{ clientId: 'service', secrets: [{ sha256: reference }] }],
      plugins: [clientCredentials(), clientAssertion({ secretOf: () => undefined }), [mtls()]],
    }
    const { plugins } = withEnvironment(written, environment) as typeof written
    const { provider } = await createTestProvider({ plugins })
    expect(provider.metadata).toMatchObject({
      token_endpoint_auth_methods_supported: expect.arrayContaining(['client_secret_jwt', 'private_key_jwt']),
      tls_client_certificate_bound_access_tokens: true,
    })
  })

  test('keep their own texts, which are not references', () => {
    const plugin = { kind: 'plugin', name: 'templates', parts: [{ kind: 'fields', template: reference }] }
    const written = { plugins: [plugin, [plugin], { name: 'mtls', text: reference }] }
    expect(withEnvironment(written, environment)).toEqual({
      plugins: [plugin, [plugin], { name: 'mtls', text: 'replaced' }],
    })
  })
})

describe('objects of a module configuration', () => {
  test('in which nothing is replaced are not copied, beside those in which something is', () => {
    const users = { found: new Map(), authenticate: () => undefined, cache: { names: ['a'] } }
    const written = { issuer: `https://${reference}`, users, keys: [{ kid: reference, sign: users.authenticate }] }
    const read = withEnvironment(written, environment) as typeof written
    expect(read).toEqual({
      issuer: 'https://replaced',
      users,
      keys: [{ kid: 'replaced', sign: users.authenticate }],
    })
    expect(read.users).toBe(users)
    expect(written.issuer).toBe(`https://${reference}`)
  })
})
