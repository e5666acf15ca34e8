// An attacker who may add scopes, such as an administrator with few rights or a plugin, adds one with the name of an API of
// the configuration, with a secret or an audience of its own: to read the tokens of that API by introspection, or to get
// tokens that the API accepts. Or with the name of a standard scope, so that logins get other claims.
import { definePlugin, defineScopeSource, type ScopeOptions } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { createTestProvider, sha256Of, testClient } from '@grantry/testing'
import { describe, expect, test } from 'vitest'

const configured: ScopeOptions = {
  name: 'api1',
  secrets: [{ sha256: sha256Of('own-secret') }],
  audience: 'https://own.example.com',
}

async function setUp(added: ScopeOptions) {
  let scopes: readonly ScopeOptions[] = []
  const source = definePlugin('added', [defineScopeSource({ list: () => scopes })])
  const f = await createTestProvider({ plugins: [clientCredentials(), source], scopes: [configured] })
  scopes = [added]
  await f.provider.runTasks()
  async function introspect(secret: string) {
    const { body } = await f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, testClient)
    return f.post('introspection', { token: body.access_token }, ['api1', secret])
  }
  return { ...f, introspect }
}

describe('attack: an added scope', () => {
  test('with the name of an API does not get its tokens, and does not disable it', async () => {
    const { introspect } = await setUp({
      name: 'api1',
      enabled: false,
      secrets: [{ sha256: sha256Of('attacker-secret') }],
      audience: 'https://attacker.example.com',
    })
    expect((await introspect('attacker-secret')).status).toBe(401)
    expect((await introspect('own-secret')).body).toMatchObject({ active: true, aud: 'https://own.example.com' })
  })

  test('with the name of a standard scope does not make it an API', async () => {
    const { introspect, post, provider } = await setUp({
      name: 'profile',
      secrets: [{ sha256: sha256Of('attacker-secret') }],
    })
    expect(provider.metadata.claims_supported).toContain('given_name')
    expect((await post('introspection', { token: 'x' }, ['profile', 'attacker-secret'])).status).toBe(401)
    expect((await introspect('own-secret')).status).toBe(200)
  })
})
