import type { ClientOptions, ClientStore } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { clients, fixture, web } from '../support/fixture.ts'

const grant = { grant_type: 'client_credentials', scope: 'api1' }
const find = (clientId: string): ClientOptions | undefined => clients.find((client) => client.clientId === clientId)

const send = async (store: ClientStore, secret = 'web-secret', clientId = web[0]) => {
  const f = await fixture({ clients: store })
  const { status, body } = await f.post('token', grant, [clientId, secret])
  return { f, response: [status, body.error] }
}

const refused = [401, 'invalid_client']

describe('clients in a client store', () => {
  test.each<[string, ClientStore['find']]>([
    ['synchronously', find],
    ['later', async (clientId) => find(clientId)],
    // Query builders and object mappers return thenables, which can be awaited but are not an `instanceof Promise`.
    [
      'with a thenable that is not a Promise',
      (clientId) => {
        const promise = Promise.resolve(find(clientId))
        return {
          // biome-ignore lint/suspicious/noThenProperty: being a thenable is what is tested.
          then: promise.then.bind(promise),
          catch: promise.catch.bind(promise),
          finally: promise.finally.bind(promise),
          [Symbol.toStringTag]: 'Query',
        } as Promise<ClientOptions | undefined>
      },
    ],
  ])('2.13 a client store may respond %s', async (_, answering) => {
    expect((await send({ find: answering })).response).toEqual([200, undefined])
    expect((await send({ find: answering }, 'wrong')).response).toEqual(refused)
    expect((await send({ find: answering }, 'x', 'absent')).response).toEqual(refused)
  })

  test('2.13 null means no such client', async () => {
    const store = { find: async () => null } as unknown as ClientStore
    expect((await send(store)).response).toEqual(refused)
  })

  test('2.13 a change of the client takes effect with the next request', async () => {
    let current = find(web[0])
    const f = await fixture({ clients: { find: () => current } })
    expect((await f.post('token', grant, web)).status).toBe(200)
    current = { ...current, clientId: web[0], enabled: false }
    expect((await f.post('token', grant, web)).status).toBe(401)
    current = undefined
    expect((await f.post('token', grant, web)).status).toBe(401)
  })

  test('2.13 an invalid client is a server_error, reported to the operator', async () => {
    const store = { find: () => ({ clientId: 'web', grantType: 'x' }) } as unknown as ClientStore
    const { f, response } = await send(store)
    expect(response).toEqual([500, 'server_error'])
    const failure = f.events.find((event) => event.type === 'unhandled_failure')
    expect(failure).toMatchObject({ cause: { message: expect.stringContaining('did you mean grantTypes?') } })
  })
})

describe('a verifier of the host', () => {
  const accept = (expected: string): ClientStore => ({
    find,
    verifySecret: async (clientId, secret) => clientId === web[0] && secret === expected,
  })

  test('2.13 replaces the stored hashes', async () => {
    expect((await send(accept('from the vault'), 'from the vault')).response).toEqual([200, undefined])
    expect((await send(accept('from the vault'), 'web-secret')).response).toEqual(refused)
  })

  test('2.13 is called with its own this', async () => {
    class Vault implements ClientStore {
      readonly #secret = 'from the vault'
      find(clientId: string) {
        return this.#secret.length > 0 ? find(clientId) : undefined
      }
      verifySecret(_: string, secret: string): boolean {
        return secret === this.#secret
      }
    }
    expect((await send(new Vault(), 'from the vault')).response).toEqual([200, undefined])
    expect((await send(new Vault(), 'web-secret')).response).toEqual(refused)
  })

  test('2.13 authenticates a client without any stored secret', async () => {
    const store = accept('from the vault')
    const bare = { ...store, find: (id: string) => ({ ...find(id), clientId: id, secrets: [] }) }
    expect((await send(bare, 'from the vault')).response).toEqual([200, undefined])
  })

  test.each<[string, ClientStore['find']]>([
    ['unknown', () => undefined],
    ['disabled', (clientId) => ({ ...find(clientId), clientId, enabled: false })],
    ['public', () => ({ ...clients[3], clientId: web[0] })],
  ])('2.13 cannot authenticate a client that is %s', async (_, answering) => {
    expect((await send({ find: answering, verifySecret: () => true })).response).toEqual(refused)
  })

  test.each(['yes', 1, {}, undefined, null])('2.13 only true is a success: %j is not', async (returned) => {
    const store = { find, verifySecret: () => returned } as unknown as ClientStore
    expect((await send(store)).response).toEqual(refused)
  })

  test('2.13 receives id and secret as they were sent, and form-decoded if that failed', async () => {
    const verified: (readonly string[])[] = []
    const verifySecret = (...pair: readonly string[]): boolean => verified.push(pair) === 2
    expect((await send({ find, verifySecret }, 'a%20b+c:d')).response).toEqual([200, undefined])
    expect(verified).toEqual([
      [web[0], 'a%20b+c:d'],
      [web[0], 'a b c:d'],
    ])
  })

  test.each<[string, ClientStore['verifySecret'] & object]>([
    [
      'throws',
      () => {
        throw new Error('the vault is sealed')
      },
    ],
    ['rejects', () => Promise.reject(new Error('the vault is sealed'))],
  ])('2.13 one that %s authenticates no client and is a server_error', async (_, verifySecret) => {
    const { f, response } = await send({ find, verifySecret })
    expect(response).toEqual([500, 'server_error'])
    const failure = f.events.find((event) => event.type === 'unhandled_failure')
    expect(failure).toMatchObject({ cause: { message: 'the vault is sealed' } })
  })
})
