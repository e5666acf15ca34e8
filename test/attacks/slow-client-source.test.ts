/**
 * Attack: the ids of a source of clients are URLs that the source fetches. Without credentials, an attacker names 1,000
 * URLs whose hosts never respond, until no look-up of the source has a place left. Clients of the configuration and of
 * other sources must not notice: a source is asked only for ids that can be one of its own.
 */
import { defineClientSource, definePlugin } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { createTestProvider, sha256Of, testClient } from '@grantry/testing'
import { expect, test } from 'vitest'

const client = { grantTypes: ['client_credentials'], scopes: ['api1'] }
const secrets = [{ sha256: sha256Of('its-secret') }]

test('look-ups that hang in one source do not delay the clients of the others', async () => {
  const hanging = defineClientSource({
    matches: (clientId) => clientId.startsWith('https://'),
    find: () => new Promise(() => undefined),
  })
  const stored = defineClientSource({
    find: (clientId) => (clientId === 'stored' ? { ...client, clientId, secrets } : undefined),
  })
  const { post } = await createTestProvider({
    plugins: [clientCredentials(), definePlugin('documents', [hanging]), definePlugin('stored', [stored])],
    clients: [{ ...client, clientId: testClient[0], secrets: [{ sha256: sha256Of(testClient[1]) }] }],
    maxHostCalls: 8,
    hostTimeLimit: 60,
  })
  const token = (id: string, secret: string) =>
    post('token', { grant_type: 'client_credentials', scope: 'api1' }, [id, secret])
  const slow = Array.from({ length: 1000 }, (_, index) =>
    post('token', { grant_type: 'client_credentials', client_id: `https://slow.example/${index}`, client_secret: 'x' }),
  )
  const refused = await Promise.all(slow.slice(8))
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]))
  expect((await token(...testClient)).status).toBe(200)
  expect((await token('stored', 'its-secret')).status).toBe(200)
})
