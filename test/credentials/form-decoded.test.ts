import type { ClientStore } from '@grantry/core'
import { basic, read, sha256Of, type TestResponse } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clients, type Fixture, fixture, web } from '../support/fixture.ts'

const grant = { grant_type: 'client_credentials', scope: 'api1' }
/** RFC 6749 appendix B. */
const formEncoded = (text: string): string => new URLSearchParams({ x: text }).toString().slice('x='.length)

const send = async (
  f: Fixture,
  pair: readonly [string, string],
  form: Record<string, string> = {},
): Promise<TestResponse> => {
  const body = new URLSearchParams({ ...grant, ...form })
  const init = { method: 'POST', body, headers: { authorization: basic(pair) } }
  return read(await f.provider.handlers.token(new Request('https://id.example.com/connect/token', init)))
}

const withClient = (clientId: string, secret: string): Promise<Fixture> =>
  fixture({ clients: [{ ...clients[0], clientId, secrets: [{ sha256: sha256Of(secret) }] }] })

describe('clients that follow RFC 6749 section 2.3.1', () => {
  test.each(['a+b', 'a b', '100%', '%41', 'é€🔑', 'a:b&c=d/?#', '~!*()', "'"])(
    '2.3 accepts the form-encoded secret %j',
    async (secret) => {
      const f = await withClient('web', secret)
      expect((await send(f, ['web', formEncoded(secret)])).status).toBe(200)
      expect((await send(f, ['web', encodeURIComponent(secret)])).status).toBe(200)
    },
  )

  test.each(['https://app.example.com', 'urn:app:1', 'my app', 'a+b', '50%'])(
    '2.3 accepts the form-encoded client_id %s',
    async (clientId) => {
      const f = await withClient(clientId, 'secret')
      expect((await send(f, [formEncoded(clientId), 'secret'])).status).toBe(200)
      expect((await send(f, [formEncoded(clientId), 'secret'], { client_id: clientId })).status).toBe(200)
    },
  )

  test('2.3 tries the raw pair first: a secret that looks encoded is compared as it is', async () => {
    const f = await fixture({
      clients: [
        { ...clients[0], clientId: 'a%2Bb', secrets: [{ sha256: sha256Of('raw') }] },
        { ...clients[0], clientId: 'a+b', secrets: [{ sha256: sha256Of('decoded') }] },
      ],
    })
    for (const [secret, clientId] of [
      ['raw', 'a%2Bb'],
      ['decoded', 'a+b'],
    ] as const) {
      expect((await send(f, ['a%2Bb', secret])).status).toBe(200)
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_succeeded', clientId })
    }
  })

  test.each(['wrong%', 'wrong%zz', 'wrong%FF', 'wrong+', '%C3'])(
    '2.3 a wrong secret that cannot be decoded is wrong, not a server_error: %s',
    async (secret) => {
      const { status, body } = await send(await fixture(), ['web', secret])
      expect([status, body.error]).toEqual([401, 'invalid_client'])
    },
  )

  test('2.3 decodes a form only once', async () => {
    const f = await withClient('web', 'a+b')
    expect((await f.post('token', { ...grant, client_id: 'web', client_secret: 'a%2Bb' })).status).toBe(401)
    expect((await send(f, ['web', 'a%252Bb'])).status).toBe(401)
  })

  test.each<[string, string, readonly string[]]>([
    ['correct without decoding', 'a%41', ['a%41']],
    ['wrong, with nothing to decode', 'wrong', ['wrong']],
    ['wrong with %', 'wrong%20', ['wrong%20', 'wrong ']],
    ['wrong with +', 'wrong+', ['wrong+', 'wrong ']],
  ])('2.3 retries the pair at most once: %s', async (_, secret, expected) => {
    const asked: string[] = []
    const store: ClientStore = {
      find: (clientId) => clients.find((client) => client.clientId === clientId),
      verifySecret(_clientId, presented) {
        asked.push(presented)
        return presented === 'a%41'
      },
    }
    await send(await fixture({ clients: store }), [web[0], secret])
    expect(asked).toEqual(expected)
  })
})
