// Secrets as rows of the host's table: empty columns are null, there are additional columns, and some rows are broken.
// One bad row must not block a client, and no bad row may authenticate.
import type { ClientOptions, ScopeOptions } from '@grantry/core'
import { basic, type Credentials, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clients, type Fixture, fixture, web, webJwt } from '../support/fixture.ts'

const form = { grant_type: 'client_credentials', scope: 'api1' }
const good = sha256Of(web[1])
const hash = Buffer.from(good, 'base64')

type Rows = NonNullable<ClientOptions['secrets']>

const inStore = (rows: readonly unknown[]) =>
  fixture({
    clients: { find: (id) => (id === web[0] ? { ...clients[0], clientId: id, secrets: rows as Rows } : undefined) },
  })

const send = (f: Fixture, as: Credentials = web) => f.post('token', form, as)
const skipped = (f: Fixture) => f.events.filter(({ type }) => type === 'secret_skipped')

describe('a row of a client store', () => {
  test.each<[string, object]>([
    ['with null in unused columns', { sha256: good, sha512: null, expiresAt: null }],
    ['with additional columns', { sha256: good, sha512: null, expiresAt: null, id: 7, created: new Date(0) }],
    ['with undefined in unused columns', { sha256: good, sha512: undefined, expiresAt: undefined }],
  ])('%s is used', async (_, row) => {
    const f = await inStore([row])
    expect((await send(f)).status).toBe(200)
    expect((await send(f, ['web', 'wrong'])).status).toBe(401)
    expect(skipped(f)).toEqual([])
  })

  const broken: readonly [string, unknown][] = [
    ['null', null],
    ['undefined', undefined],
    ['text', good],
    ['a number', 7],
    ['a Buffer', hash],
    ['a Buffer as its hash', { sha256: hash }],
    ['a Buffer that went through JSON', { sha256: hash.toJSON() }],
    ['only null', { sha256: null, sha512: null, expiresAt: null }],
    ['a Date as its expiry', { sha256: good, expiresAt: new Date(4e12) }],
    ['a boolean as its expiry', { sha256: good, expiresAt: false }],
  ]

  test.each(broken)('that is or has %s is skipped, and the client can use its other one', async (_, row) => {
    const f = await inStore([row, { sha256: good }])
    expect((await send(f)).status).toBe(200)
    expect(skipped(f)).toMatchObject([{ owner: 'client web' }])
  })

  test.each(broken)('that is or has %s authenticates no client', async (_, row) => {
    const f = await inStore([row])
    for (const secret of [web[1], good, 'null', '']) {
      const { status, body } = await send(f, ['web', secret])
      expect(status).toBe(401)
      expect(body).toEqual({ error: 'invalid_client', error_description: expect.any(String) })
    }
  })

  test('that is skipped is reported once for each client, not for each attempt', async () => {
    const listed = [web[0], webJwt[0]].map((clientId) => ({
      ...clients[0],
      clientId,
      secrets: [{ sha256: 'broken' }, { sha256: good }],
    }))
    const f = await fixture({ clients: { find: (id) => listed.find(({ clientId }) => clientId === id) } })
    for (const secret of ['a', 'b', web[1], web[1]]) await send(f, [web[0], secret])
    expect(skipped(f)).toMatchObject([{ owner: 'client web' }])
    await send(f, [webJwt[0], 'a'])
    expect(skipped(f)).toMatchObject([{ owner: 'client web' }, { owner: 'client web-jwt' }])
  })
})

describe('the empty secret, even if its hash is stored', () => {
  const empty = [{ sha256: sha256Of('') }]
  const id = 'my-client'
  const encoded = 'my%2Dclient'
  const client: ClientOptions = { ...clients[0], clientId: id, secrets: empty }
  const scope: ScopeOptions = { name: id, secrets: empty }

  const sources = [
    ['an array', [client]],
    ['a store', { find: (name: string) => (name === id ? { ...client } : undefined) }],
  ] as const

  test.each(sources)('authenticates no client of %s', async (_, source) => {
    const f = await fixture({ clients: source })
    for (const as of [id, encoded]) {
      const { status, body } = await send(f, [as, ''])
      expect(status).toBe(401)
      expect(body.error).toBe('invalid_client')
    }
    for (const inForm of [{ client_id: id, client_secret: '' }, { client_id: id }]) {
      expect(await f.post('token', { ...form, ...inForm })).toMatchObject({
        status: 401,
        body: { error: 'invalid_client' },
      })
    }
  })

  test('authenticates no scope', async () => {
    const f = await fixture({ scopes: [{ name: 'api1' }, { name: 'api2' }, scope] })
    const token = (await send(f)).body.access_token
    for (const as of [id, encoded]) {
      expect((await f.post('introspection', { token }, [as, ''])).status).toBe(401)
    }
    for (const inForm of [{ client_id: id, client_secret: '' }, { client_id: id }]) {
      expect((await f.post('introspection', { token, ...inForm })).status).toBe(401)
    }
  })

  test('but a secret of one space, form-encoded or not, is valid', async () => {
    const f = await fixture({ clients: [{ ...client, secrets: [{ sha256: sha256Of(' ') }] }] })
    for (const pair of [
      [id, ' '],
      [encoded, '+'],
    ] as const) {
      const { status } = await f.provider.handlers.token(
        new Request('https://id.example.com/connect/token', {
          method: 'POST',
          headers: { authorization: basic(pair) },
          body: new URLSearchParams(form),
        }),
      )
      expect(status).toBe(200)
    }
  })
})
