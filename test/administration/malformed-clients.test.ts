// A client in the storage has a member of a plugin that was removed from the configuration.
import { storedEntries } from '@grantry/administration'
import { openEntries } from '@grantry/core'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { sha256Of } from '@grantry/testing'
import { expect, test } from 'vitest'
import { builtInPlugins, fixture } from '../support/fixture.ts'

test('it is refused as an unknown one, with one event that names the member, and other clients work', async () => {
  const storage = memoryDriver()
  const entries = openEntries({ issuer: 'https://id.example.com', storage })
  const f = await fixture({
    storage,
    plugins: [builtInPlugins, storedEntries({ entries, cacheFor: 5 })],
  })
  const add = (clientId: string, more: object) =>
    entries.create('client', clientId, {
      client: {
        clientId,
        grantTypes: ['client_credentials'],
        scopes: ['api1'],
        secrets: [{ sha256: sha256Of('its-secret') }],
        ...more,
      },
      tags: [],
      createdAt: '',
      changedAt: '',
    } as never)
  await add('shop', { badgeColour: 'red' })
  await add('neighbour', {})
  const token = (clientId: string) =>
    f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, [clientId, 'its-secret'])
  for (const _attempt of [1, 2, 3]) {
    expect(await token('shop')).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  }
  expect((await token('neighbour')).status).toBe(200)
  const skipped = f.events.filter(({ type }) => type === 'client_skipped')
  expect(skipped).toHaveLength(1)
  expect(skipped[0]).toMatchObject({ problem: expect.stringMatching(/client shop.*badgeColour/u) })
  expect(f.events.filter(({ type }) => type === 'unhandled_failure')).toEqual([])
})
