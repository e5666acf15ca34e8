import { basic, read, sha256Of, type TestResponse } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { clients, type Fixture, fixture, web } from '../support/fixture.ts'

const grant = { grant_type: 'client_credentials', scope: 'api1' }

const send = async (f: Fixture, authorization: string, form: Record<string, string> = grant): Promise<TestResponse> => {
  const init = { method: 'POST', body: new URLSearchParams(form), headers: { authorization } }
  return read(await f.provider.handlers.token(new Request('https://id.example.com/connect/token', init)))
}

const withSecret = (secret: string): Promise<Fixture> =>
  fixture({ clients: [{ ...clients[0], clientId: web[0], secrets: [{ sha256: sha256Of(secret) }] }] })

describe('client_secret_basic', () => {
  // web:web-secret, written out, so that this test does not depend on the helper.
  test.each(['Basic d2ViOndlYi1zZWNyZXQ=', 'basic d2ViOndlYi1zZWNyZXQ=', 'BASIC d2ViOndlYi1zZWNyZXQ='])(
    '2.1 the header %s authenticates web with web-secret',
    async (authorization) => {
      const f = await fixture()
      const { status, body } = await send(f, authorization)
      expect(status).toBe(200)
      expect(body.token_type).toBe('Bearer')
      const event = { type: 'client_authentication_succeeded', method: 'client_secret_basic', clientId: 'web' }
      expect(f.events).toContainEqual(expect.objectContaining(event))
    },
  )

  test.each(['é', '€uro', '🔑', 'Ж:ж', '\u{10FFFF}', 'e\u0301'])(
    '2.1 encodes the secret %j as UTF-8',
    async (secret) => {
      const f = await withSecret(secret)
      expect((await send(f, basic([web[0], secret]))).status).toBe(200)
    },
  )

  test('2.1 rejects Latin-1', async () => {
    const f = await withSecret('é')
    expect((await send(f, `Basic ${btoa('web:\u00e9')}`)).status).toBe(401)
  })

  test('2.1 compares bytes: two Unicode forms of one letter are different secrets', async () => {
    const f = await withSecret('\u00e9')
    expect((await send(f, basic([web[0], '\u00e9']))).status).toBe(200)
    expect((await send(f, basic([web[0], 'e\u0301']))).status).toBe(401)
  })

  test.each([
    ['no base64', 'Basic d2ViOndlYi1zZWNyZXQ*'],
    ['no padding', 'Basic d2ViOndlYi1zZWNyZXQ'],
    ['white space inside', 'Basic d2ViOndl Yi1zZWNyZXQ='],
    ['base64url', `Basic ${btoa('web:???>>>').replaceAll('+', '-').replaceAll('/', '_')}`],
    ['no colon', `Basic ${btoa('webweb-secret')}`],
    ['no UTF-8', `Basic ${btoa('web:\xff')}`],
    ['a trailing NUL', `Basic ${btoa('web:web-secret\0')}`],
    ['a trailing space', `Basic ${btoa('web:web-secret ')}`],
    ['a byte order mark', `Basic ${btoa('\xef\xbb\xbfweb:web-secret')}`],
    ['nothing', 'Basic'],
    ['an empty pair', 'Basic '],
    ['a single colon', `Basic ${btoa(':')}`],
    ['no secret', `Basic ${btoa('web:')}`],
    ['no id', `Basic ${btoa(':web-secret')}`],
    ['another scheme', 'Bearer d2ViOndlYi1zZWNyZXQ='],
    ['no scheme', 'd2ViOndlYi1zZWNyZXQ='],
    ['two pairs', 'Basic d2ViOndlYi1zZWNyZXQ=, Basic d2ViOndlYi1zZWNyZXQ='],
    ['more than the longest pair', `Basic ${btoa(`web:${'x'.repeat(50_000)}`)}`],
  ])('2.1 rejects a header with %s', async (_, authorization) => {
    const { status, body } = await send(await fixture(), authorization)
    expect(status).toBe(401)
    expect(body.error).toBe('invalid_client')
  })

  test('2.1 valid credentials in the form do not make up for a malformed header', async () => {
    const form = { ...grant, client_id: web[0], client_secret: web[1] }
    const { status, body } = await send(await fixture(), 'Basic %%%', form)
    expect([status, body.error]).toEqual([401, 'invalid_client'])
  })

  test.each(['a:b', ':', '::', ':secret', 'secret:'])('2.2 splits the pair at the first colon: %s', async (secret) => {
    const f = await withSecret(secret)
    expect((await send(f, basic([web[0], secret]))).status).toBe(200)
    expect((await send(f, basic([web[0], secret.replaceAll(':', '')]))).status).toBe(401)
  })

  test.each(['a+b', '100%', '%41', 'a%2Bb', 'a b', ' a', 'a%', '%zz', '+', '&=?'])(
    '2.2 compares the secret %j raw',
    async (secret) => {
      const f = await withSecret(secret)
      expect((await send(f, basic([web[0], secret]))).status).toBe(200)
    },
  )

  test('2.2 compares a client_id raw, including its case', async () => {
    const f = await fixture({ clients: [{ ...clients[0], clientId: 'a%20B+c' }] })
    expect((await send(f, basic(['a%20B+c', web[1]]))).status).toBe(200)
    expect((await send(f, basic(['A%20B+c', web[1]]))).status).toBe(401)
  })
})
