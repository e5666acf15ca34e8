import { type ClientOptions, type ClientSource, defineClientSource, definePlugin, OAuthError } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { createTestProvider, sha256Of, type TestProviderOptions } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { kitOf, offerKit } from '../support/kit-of.ts'

const clientId = 'https://app.example.com/client.json'

/** A client of this id, with a secret of its own. */
const clientOf = (secret: string): ClientOptions => ({
  clientId,
  secrets: [{ sha256: sha256Of(secret) }],
  grantTypes: ['client_credentials'],
  scopes: ['api1'],
})

const refusal = () => Promise.reject(new OAuthError('invalid_client', 'The document is missing', { reason: 'missing' }))
const outage = () =>
  Promise.reject(new OAuthError('temporarily_unavailable', 'The host does not respond', { reason: 'outage' }))

type Find = ClientSource['find']
const knows =
  (secret: string): Find =>
  () =>
    clientOf(secret)
const readsLater =
  (find: Find): Find =>
  async (...parameters) => {
    await undefined
    return find(...parameters)
  }
const nothing: Find = () => undefined

/** A provider with the client `host` in its configuration or store, and sources. */
async function setUp(clients: TestProviderOptions['clients'], sources: Readonly<Record<string, Find>>) {
  const asked: string[] = []
  const plugins = Object.entries(sources).map(([name, find]) =>
    definePlugin(name, [
      defineClientSource({
        yields: name.startsWith('document'),
        find(...parameters) {
          asked.push(name)
          return find(...parameters)
        },
      }),
    ]),
  )
  const kits = definePlugin('kits', [offerKit('kits')])
  const f = await createTestProvider({ plugins: [clientCredentials(), kits, plugins], clients })
  const statusOf = async (client_secret: string) => {
    const form = { grant_type: 'client_credentials', scope: 'api1', client_id: clientId, client_secret }
    return (await f.post('token', form)).status
  }
  return { asked, statusOf, kit: kitOf(f.provider, 'kits') }
}

const inStore = (find: Find) => ({ find: (id: string) => find(id, {} as never) })

describe('a client of the host', () => {
  test.each<[string, TestProviderOptions['clients'], Readonly<Record<string, Find>>]>([
    ['comes before one of a document', [clientOf('own')], { document: knows('other') }],
    ['comes before one of another source', [clientOf('own')], { registered: knows('other') }],
    ['is not hidden by a refusal', [clientOf('own')], { document: refusal, registered: refusal }],
    ['is not hidden by an outage', [clientOf('own')], { document: outage, registered: outage }],
    [
      'in a store is not hidden by a refusal',
      inStore(readsLater(knows('own'))),
      { document: refusal, stored: refusal },
    ],
    ['in a store is not hidden by an outage', inStore(readsLater(knows('own'))), { document: outage, stored: outage }],
    [
      'in a store is not hidden by a look-up that hangs',
      inStore(readsLater(knows('own'))),
      { stored: () => new Promise(() => undefined) },
    ],
  ])('%s', async (_name, clients, sources) => {
    const { statusOf } = await setUp(clients, sources)
    expect([await statusOf('own'), await statusOf('other')]).toEqual([200, 401])
  })

  test('of the configuration is found without a call to a source', async () => {
    const { statusOf, asked } = await setUp([clientOf('own')], { document: knows('other'), registered: knows('other') })
    expect([await statusOf('own'), asked]).toEqual([200, []])
  })

  test('that the host refuses is found in a source', async () => {
    const { statusOf } = await setUp(inStore(refusal), { registered: knows('own') })
    expect(await statusOf('own')).toBe(200)
  })

  test('that the host cannot look up is found in no source', async () => {
    const { statusOf, asked } = await setUp(inStore(outage), { document: knows('own') })
    expect([await statusOf('own'), asked]).toEqual([503, []])
  })
})

describe('a client of a source', () => {
  test.each<[string, Readonly<Record<string, Find>>, number]>([
    ['is not hidden by a refusal of another one', { registered: refusal, stored: knows('own') }, 200],
    ['is not hidden by a refusal of a document', { document: refusal, stored: knows('own') }, 200],
    ['is not hidden by an outage of a document', { document: outage, stored: readsLater(knows('own')) }, 200],
    ['comes before that of a document', { document: knows('other'), stored: readsLater(knows('own')) }, 200],
    ['is found in a document if another source refuses', { document: readsLater(knows('own')), stored: refusal }, 200],
    ['is in doubt if a source could know it, too', { other: outage, stored: knows('own') }, 503],
    ['is in doubt if a source could come before the document', { document: knows('own'), stored: outage }, 503],
    ['is refused if two sources know it', { other: knows('own'), stored: knows('own') }, 401],
    [
      'is refused if two sources know it, and a document',
      { document: knows('own'), other: knows('own'), stored: knows('own') },
      401,
    ],
    ['is refused if two documents describe it', { document: knows('own'), document2: knows('own') }, 401],
    ['is refused if no source knows it', { document: refusal, stored: nothing }, 401],
  ])('%s', async (_name, sources, status) => {
    const { statusOf } = await setUp([], sources)
    expect(await statusOf('own')).toBe(status)
  })

  test('that is found is looked for in no document', async () => {
    const { statusOf, asked } = await setUp([], { document: refusal, stored: knows('own') })
    expect([await statusOf('own'), asked]).toEqual([200, ['stored']])
  })

  test('of a stored token is unknown if it is refused, and in doubt during an outage', async () => {
    const { kit } = await setUp([], { document: refusal })
    expect(await kit.findClient(clientId)).toBeUndefined()
    await expect(kit.findClient(clientId, { clientAddress: undefined })).rejects.toMatchObject({
      code: 'invalid_client',
    })
    const out = await setUp([], { document: outage })
    await expect(out.kit.findClient(clientId)).rejects.toMatchObject({ code: 'temporarily_unavailable' })
  })
})
