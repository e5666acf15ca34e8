import { describe, expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'

const grant = { grant_type: 'client_credentials', scope: 'api1' }

describe('client_secret_post', () => {
  test('2.4 client_id and client_secret in the form authenticate', async () => {
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
    ['a blank behind the secret', { client_id: 'web', client_secret: 'web-secret ' }],
    ['another case', { client_id: 'WEB', client_secret: 'web-secret' }],
    ['a name of the prototype', { client_id: '__proto__', client_secret: 'x' }],
    ['nothing', {}],
  ])('2.4 with %s nobody is authenticated', async (_, credentials) => {
    const f = await fixture()
    const { status, body } = await f.post('token', { ...grant, ...credentials })
    expect([status, body.error]).toEqual([401, 'invalid_client'])
    expect(f.events).toContainEqual(expect.objectContaining({ type: 'client_authentication_failed' }))
  })

  test('2.4 credentials in the query are none', async () => {
    const { provider } = await fixture()
    const url = `https://id.example.com/connect/token?client_id=${web[0]}&client_secret=${web[1]}`
    const response = await provider.fetch(new Request(url, { method: 'POST', body: new URLSearchParams(grant) }))
    expect(response.status).toBe(401)
  })
})

describe('one method only', () => {
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

  test('2.6 an equal client_id beside a Basic header is fine', async () => {
    const { post } = await fixture()
    expect((await post('token', { ...grant, client_id: web[0] }, web)).status).toBe(200)
  })

  test.each(['other', 'WEB', 'web ', 'nobody'])(
    '2.6 another client_id beside a Basic header is refused: %j',
    async (id) => {
      const f = await fixture()
      const { status, body } = await f.post('token', { ...grant, client_id: id }, web)
      expect(status).toBe(400)
      expect(body).toEqual({ error: 'invalid_request', error_description: expect.any(String) })
      expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'client_id_mismatch' })
    },
  )
})
