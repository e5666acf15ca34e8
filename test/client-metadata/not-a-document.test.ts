import { describe, expect, test } from 'vitest'
import { clientId, createHosts, document, type Hosted, redirectUri, setUp } from './parties.ts'

const plugin = (reason: string) => `plugin:client-metadata:${reason}`
const day = 86_400
const challenge = { body: '<html>Are you human?</html>', type: 'text/html' }

/** Responses that are no document of the client: they tell nothing about it. */
const others: readonly [string, string, Hosted][] = [
  ['a challenge', 'document_missing', { ...challenge, status: 403 }],
  ['a page with the status of success', 'document_type', challenge],
  ['a demand for credentials', 'document_missing', { body: '', status: 401 }],
  ['a document that is not there', 'document_missing', { body: document, status: 404 }],
  ['a page instead of a document that is not there', 'document_missing', { ...challenge, status: 404 }],
  ['a redirect', 'document_missing', { body: '', status: 302, headers: { location: 'https://evil.example/' } }],
  ['a success without a document', 'document_missing', { body: {}, status: 202 }],
  ['a limit', 'document_unreachable', { body: '{}', status: 429 }],
  ['an outage', 'document_unreachable', { ...challenge, status: 500 }],
  ['an error in JSON', 'client_id_differs', { body: { error: 'forbidden' } }],
  ['the document of another client', 'client_id_differs', { body: { ...document, client_id: `${clientId}?a=1` } }],
  ['an array', 'document_malformed', { body: [document] }],
  ['half of a document', 'document_malformed', { body: '{"client_id":' }],
  ['what is nested deeply', 'document_malformed', { body: '['.repeat(5000) }],
  ['more than 5 KB', 'document_too_large', { body: { ...document, padding: 'x'.repeat(5200) } }],
]

describe('a response that is no document of the client', () => {
  test.each(others)('%s: no client is found, and none ends', async (_name, reason, hosted) => {
    const f = await setUp(createHosts({ [clientId]: hosted }))
    const { status, html } = await f.authorize()
    expect([status, f.failures().at(-1)]).toEqual([503, plugin(reason)])
    expect(html).not.toContain('evil.example')
    const token = await f.redeem('any')
    expect([token.status, token.body.error]).toEqual([503, 'temporarily_unavailable'])
    expect(f.requested).toEqual([clientId])
  })

  test.each(others)('%s: a copy is used for a day, and then the tokens wait', async (_name, _reason, hosted) => {
    const f = await setUp()
    const { code } = await f.authorize()
    const { body: first } = await f.redeem(code)
    f.hosted.set(clientId, hosted)
    f.clock.advance(301)
    expect((await f.authorize()).code).toEqual(expect.any(String))
    const refresh = (token: unknown) =>
      f.post('token', { grant_type: 'refresh_token', refresh_token: String(token), client_id: clientId })
    const second = await refresh(first.refresh_token)
    expect(second.status).toBe(200)
    f.clock.advance(2 * day)
    const third = await refresh(second.body.refresh_token)
    expect([third.status, third.body.error]).toEqual([503, 'temporarily_unavailable'])
    // The host sends the document again, and no user has to sign in.
    f.hosted.set(clientId, { body: document })
    f.clock.advance(11)
    expect((await refresh(second.body.refresh_token)).status).toBe(200)
  })
})

describe('a client ends', () => {
  test.each<[string, Hosted]>([
    ['with the status 410', { body: '', status: 410 }],
    ['with the status 410 and a page', { ...challenge, status: 410 }],
    ['with a document without a redirect URI', { body: { ...document, redirect_uris: [] } }],
    ['with a document that publishes a secret', { body: { ...document, client_secret: 'published' } }],
  ])('%s', async (_name, hosted) => {
    const f = await setUp()
    const { code } = await f.authorize()
    f.hosted.set(clientId, hosted)
    f.clock.advance(301)
    expect((await f.authorize()).status).toBe(400)
    const token = await f.redeem(code)
    expect([token.status, token.body.error]).toEqual([401, 'invalid_client'])
    // The copy has ended, too: an outage does not bring the client back.
    f.hosted.set(clientId, { body: '', status: 500 })
    f.clock.advance(11)
    expect((await f.authorize()).status).toBe(503)
  })

  test('also if a token of it was checked after the document had changed', async () => {
    const f = await setUp()
    const { code } = await f.authorize()
    const { body } = await f.redeem(code)
    f.hosted.set(clientId, { body: '', status: 410 })
    f.clock.advance(301)
    await f.get('userinfo', {}, { authorization: `Bearer ${body.access_token}` })
    expect((await f.authorize()).status).toBe(400)
  })
})

test('another redirect URI of the document replaces the one of the copy', async () => {
  const f = await setUp()
  const { code } = await f.authorize()
  f.hosted.set(clientId, { body: { ...document, redirect_uris: ['https://app.example.com/other'] } })
  f.clock.advance(301)
  expect((await f.authorize({ redirect_uri: redirectUri })).status).toBe(400)
  expect(code).toEqual(expect.any(String))
})
