import { sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { setUp as setUpPush } from '../pushed-authorization/parties.ts'
import { lastReason } from '../support/fixture.ts'
import { answer } from './browser.ts'
import { clients, redirectUri, request, setUp, web } from './parties.ts'

const single = { ...clients[0], clientId: 'single', redirectUris: [redirectUri] }
const all = [...clients, { ...single, secrets: [{ sha256: sha256Of('single-secret') }] }]
const as = ['single', 'single-secret'] as const

/** RFC 6749: without `redirect_uri` and `openid`. */
const plain = { client_id: 'single', response_type: 'code', scope: 'api1', state: request.state }
const isCode = { code: expect.any(String), state: request.state }

async function open(more: Readonly<Record<string, string>> = {}) {
  const f = await setUp(undefined, {}, { clients: all })
  const page = await f.browser().open(f.urlOf({ ...plain, ...more }))
  const { code = '' } = answer(page)
  const redeem = (form: Readonly<Record<string, string>>, by: readonly [string, string] = as) =>
    f.post('token', { grant_type: 'authorization_code', code, ...form }, [...by])
  return { ...f, page, redeem }
}

describe('a request without redirect_uri', () => {
  test('11.30 of a client with one is answered there', async () => {
    const { page } = await open()
    expect(page.url.href).toMatch(`${redirectUri}?code=`)
    expect(answer(page)).toMatchObject(isCode)
  })

  test.each([
    ['without the parameter', {}],
    ['with the URI that received the code', { redirect_uri: redirectUri }],
  ])('11.30 the code is redeemed %s', async (_name, form) => {
    const { redeem } = await open()
    expect((await redeem(form)).status).toBe(200)
  })

  test('11.30 the code is not redeemed with another URI', async () => {
    const { redeem } = await open()
    const { status, body } = await redeem({ redirect_uri: 'https://client.example.com/other' })
    expect([status, body.error]).toEqual([400, 'invalid_grant'])
    expect((await redeem({})).status).toBe(200)
  })

  test('11.30 a request with the parameter still needs it at the token endpoint', async () => {
    const f = await open({ redirect_uri: redirectUri })
    const { status, body } = await f.redeem({})
    expect([status, body.error, lastReason(f)]).toEqual([
      400,
      'invalid_request',
      'plugin:authorization_code:redirect_uri_missing',
    ])
    expect((await f.redeem({ redirect_uri: redirectUri })).status).toBe(200)
  })

  test('11.30 another client cannot redeem the code', async () => {
    const { redeem } = await open()
    expect((await redeem({}, web)).body.error).toBe('invalid_grant')
  })

  test.each([
    ['asks for openid', { scope: 'openid api1' }],
    ['belongs to a client with several', { client_id: 'web' }],
    ['belongs to a client that must push its requests', { client_id: 'strict' }],
  ])('11.30 is refused on a page if it %s', async (_name, more) => {
    const strict = { ...single, clientId: 'strict', requirePushedAuthorizationRequests: true }
    const { browser, urlOf, events } = await setUpPush({}, undefined, { clients: [...all, strict] })
    const { status, headers } = await browser().open(urlOf({ ...plain, ...more }))
    expect([status, headers.get('location')]).toEqual([400, null])
    expect(lastReason({ events })).toBe('plugin:authorization-endpoint:redirect_uri_missing')
  })

  test('11.30 can be pushed', async () => {
    const { push, browser, urlOf } = await setUpPush({}, undefined, { clients: all })
    const { client_id: _, ...form } = plain
    const { status, body } = await push(form, [...as])
    expect(status).toBe(201)
    const page = await browser().open(urlOf({ client_id: 'single', request_uri: String(body.request_uri) }))
    expect(answer(page)).toMatchObject(isCode)
  })
})
