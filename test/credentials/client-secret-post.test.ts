import { describe, expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'

const grant = { grant_type: 'client_credentials', scope: 'api1' }

describe('client_secret_post', () => {
  test('2.4 authenticates with client_id and client_secret in the form', async () => {
    const f = await fixture()
    const { status } = await f.post('token', { ...grant, client_id: web[0], client_secret: web[1] })
    expect(status).toBe(200)
    const event = { type: 'client_authentication_succeeded', method: 'client_secret_post', clientId: web[0] }
    expect(f.events).toContainEqual(expect.objectContaining(event))
  })

  test.each([
    ['a wrong secret', { client_id: 'web', client_secret: 'other-secret' }],
    ['a secret of another client', { client_id: 'other', client_secret: 'web-secret' }],
    ['no client_id', { client_secret: 'web-secret' }],
    ['no secret', { client_id: 'web' }],
    ['an empty secret', { client_id: 'web', client_secret: '' }],
    ['a space after the secret', { client_id: 'web', client_secret: 'web-secret ' }],
    ['another case', { client_id: 'WEB', client_secret: 'web-secret' }],
    ['a property name of the prototype', { client_id: '__proto__', client_secret: 'x' }],
    ['nothing', {}],
  ])('2.4 rejects %s', async (_, credentials) => {
    const f = await fixture()
    const { status, body } = await f.post('token', { ...grant, ...credentials })
    expect([status, body.error]).toEqual([401, 'invalid_client'])
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'client_authentication_failed' }))
  })

  test('2.4 ignores credentials in the query', async () => {
    const { provider } = await fixture()
    const url = `https://id.example.com/connect/token?client_id=${web[0]}&client_secret=${web[1]}`
    const response = await provider.fetch(new Request(url, { method: 'POST', body: new URLSearchParams(grant) }))
    expect(response.status).toBe(401)
  })
})

describe('only one method', () => {
  test.each([
    ['equal', web[1]],
    ['wrong', 'x'],
  ])('2.5 a Basic header and a client_secret (%s) are two methods', async (_, client_secret) => {
    const f = await fixture()
    for (const form of [{ client_id: web[0], client_secret }, { client_secret }]) {
      const { status, body, headers } = await f.post('token', { ...grant, ...form }, web)
      expect(status).toBe(400)
      expect(body).toEqual({ error: 'invalid_request', error_description: expect.any(String) })
      expect(headers.get('www-authenticate')).toBeNull()
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'several_credentials' })
    }
  })

  test('2.6 accepts an equal client_id beside a Basic header', async () => {
    const { post } = await fixture()
    expect((await post('token', { ...grant, client_id: web[0] }, web)).status).toBe(200)
  })

  test.each(['other', 'WEB', 'web ', 'absent'])(
    '2.6 rejects a different client_id beside a Basic header: %j',
    async (id) => {
      const f = await fixture()
      const { status, body } = await f.post('token', { ...grant, client_id: id }, web)
      expect(status).toBe(400)
      expect(body).toEqual({ error: 'invalid_request', error_description: expect.any(String) })
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'client_id_mismatch' })
    },
  )
})
