import { type ClientOptions, type ClientSource, defineClientSource, definePlugin, type Kit } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { memoryDriver } from '@grantry/storage-drivers/memory'
import { createTestProvider, sha256Of, type TestProviderOptions, testClient } from '@grantry/testing'
import { decodeJwt } from 'jose'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { kitOf, kitPlugin, offerKit } from '../support/kit-of.ts'

const registered: ClientOptions = {
  clientId: 'registered',
  secrets: [{ sha256: sha256Of('its-secret') }],
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
}
const ofHost: ClientOptions = { ...registered, clientId: testClient[0], secrets: [{ sha256: sha256Of(testClient[1]) }] }

const source = (find: ClientSource['find'], name = 'registration') =>
  definePlugin(name, [defineClientSource({ find }), offerKit(name)])
const only = (client: ClientOptions) => (clientId: string) => (clientId === client.clientId ? client : undefined)

async function setUp(plugins: TestProviderOptions['plugins'], more: Partial<TestProviderOptions> = {}) {
  const f = await createTestProvider({ plugins: [clientCredentials(), plugins], clients: [ofHost], ...more })
  return {
    ...f,
    token: (...as: [string, string]) => f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, as),
    // In a header, the colon of a URL would end the id.
    tokenByForm: (client_id: string, client_secret: string) =>
      f.post('token', { grant_type: 'client_credentials', scope: 'api1', client_id, client_secret }),
  }
}

describe('the clients of a plugin', () => {
  test('work beside those of the host', async () => {
    const { token } = await setUp(source(only(registered)))
    expect((await token('registered', 'its-secret')).status).toBe(200)
    expect((await token('registered', 'wrong')).status).toBe(401)
    expect((await token(...testClient)).status).toBe(200)
    expect((await token('absent', 'x')).status).toBe(401)
  })

  test('are found with a kit that has no members of grants', async () => {
    let members: readonly string[] = []
    const { token } = await setUp(
      source((_clientId, kit) => {
        members = Object.keys(kit)
        return registered
      }),
    )
    expect((await token('registered', 'its-secret')).status).toBe(200)
    expect(members).toEqual(expect.arrayContaining(['records', 'limitGuesses']))
    expect(members).not.toContain('redemption')
  })

  test('can be in the records of the plugin, and change', async () => {
    const shape = v.custom<ClientOptions>(() => true)
    const find = (clientId: string, { records }: Kit) => records.get(clientId, shape)
    const { provider, token } = await setUp(source(find))
    const { records, now } = kitOf(provider, 'registration')
    expect((await token('registered', 'its-secret')).status).toBe(401)
    await records.put('registered', JSON.parse(JSON.stringify(registered)), now() + 600)
    const { body } = await token('registered', 'its-secret')
    const introspect = () => kitOf(provider, 'registration').findClient('registered')
    expect(body.access_token).toEqual(expect.any(String))
    expect(await introspect()).not.toHaveProperty('secrets')
    await records.put('registered', JSON.parse(JSON.stringify({ ...registered, enabled: false })), now() + 600)
    expect((await token('registered', 'its-secret')).status).toBe(401)
    await records.delete('registered')
    expect(await introspect()).toBeUndefined()
  })

  test('are refused under an id that another source knows too', async () => {
    const twice = await setUp([source(only(registered)), source(only(registered), 'other')])
    expect((await twice.token('registered', 'its-secret')).status).toBe(401)
  })

  test('are compared with their own secrets, also if the host compares those of its clients itself', async () => {
    const seen: string[] = []
    const clients = {
      find: only(ofHost),
      verifySecret: (clientId: string, secret: string) => {
        seen.push(clientId)
        return secret === 'from the host'
      },
    }
    const { token } = await setUp(source(only(registered)), { clients })
    expect((await token('registered', 'its-secret')).status).toBe(200)
    expect((await token('registered', 'from the host')).status).toBe(401)
    expect((await token(testClient[0], 'from the host')).status).toBe(200)
    expect(seen).toEqual([testClient[0]])
  })

  test.each<[string, ClientSource['find'], number]>([
    ['an error', () => Promise.reject(new Error('The database is away')), 500],
    ['no answer', () => new Promise(() => undefined), 503],
  ])('that result in %s are a failure, not a refusal', async (_, find, status) => {
    const { token, events } = await setUp(source(find), { hostTimeLimit: 0.05 })
    expect((await token('registered', 'its-secret')).status).toBe(status)
    expect(events.some(({ type }) => type === 'unhandled_failure')).toBe(true)
  })

  test('are unknown if they are malformed, and one event names the mistake', async () => {
    const malformed = { ...registered, grantTypes: 'all' } as never
    const { token, events } = await setUp(source(only(malformed)))
    for (const _attempt of [1, 2]) expect((await token('registered', 'its-secret')).status).toBe(401)
    const skipped = events.filter(({ type }) => type === 'client_skipped')
    expect(skipped).toMatchObject([{ problem: expect.stringMatching(/registration.*client registered.*grantTypes/u) }])
    expect(events.some(({ type }) => type === 'unhandled_failure')).toBe(false)
  })

  test('can have the URL of a document as the id, of at most 2000 characters', async () => {
    const clientId = `https://app.example.com/${'client/'.repeat(300)}`.slice(0, 2000)
    const { tokenByForm } = await setUp(source(only({ ...registered, clientId })))
    expect(clientId).toHaveLength(2000)
    const { status, body } = await tokenByForm(clientId, 'its-secret')
    expect([status, decodeJwt(String(body.access_token)).client_id]).toEqual([200, clientId])
    expect((await tokenByForm(`${clientId}x`, 'its-secret')).status).toBe(401)
  })

  test('are looked up only under ids that match', async () => {
    const asked: string[] = []
    const urls = defineClientSource({
      matches: (clientId) => clientId.startsWith('https://'),
      find(clientId) {
        asked.push(clientId)
        return { ...registered, clientId }
      },
    })
    const { token, tokenByForm } = await setUp(definePlugin('documents', [urls]))
    expect((await token('registered', 'its-secret')).status).toBe(401)
    expect((await token(...testClient)).status).toBe(200)
    expect(asked).toEqual([])
    expect((await tokenByForm('https://app.example.com/client', 'its-secret')).status).toBe(200)
    expect(new Set(asked)).toEqual(new Set(['https://app.example.com/client']))
  })

  test('are looked up with the address of a caller who has not authenticated, and without it for a token', async () => {
    const callers: unknown[] = []
    const find: ClientSource['find'] = (clientId, _kit, caller) => {
      callers.push(caller && { address: caller.clientAddress })
      return only(registered)(clientId)
    }
    const { get, token, provider } = await setUp(source(find))
    const { body } = await token('registered', 'its-secret')
    const { findClient } = kitOf(provider, 'registration')
    await findClient('registered', { clientAddress: '192.0.2.7' })
    await get('userinfo', {}, { authorization: `Bearer ${body.access_token}` })
    expect(callers).toEqual([{ address: undefined }, { address: '192.0.2.7' }, undefined])
  })

  test('are private to the plugin: another one cannot read its records', async () => {
    const storage = memoryDriver()
    const { provider } = await setUp([source(only(registered)), kitPlugin('other')], { storage })
    const { records, now } = kitOf(provider, 'registration')
    await records.put('registered', { a: 1 }, now() + 60)
    expect(await kitOf(provider, 'other').records.get('registered', v.unknown())).toBeUndefined()
  })

  test('need find()', async () => {
    await expect(setUp(source(undefined as never))).rejects.toThrow(
      'the client source of registration: find must be a function',
    )
  })
})
