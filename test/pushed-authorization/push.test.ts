import { basic, mapDriver } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { challenge, redirectUri, request, web } from '../authorization/parties.ts'
import { otherClient, parUrl, pushed, setUp } from './parties.ts'

const without = (name: string) => Object.fromEntries(Object.entries(pushed).filter(([key]) => key !== name))

describe('a pushed request', () => {
  test('12.1 gets a URI that is valid for 60 seconds', async () => {
    const { push } = await setUp()
    const { status, body, headers } = await push(pushed)
    expect(status).toBe(201)
    expect(body).toEqual({
      request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[\w-]{43}$/u),
      expires_in: 60,
    })
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('12.1 gets another URI each time', async () => {
    const { push } = await setUp()
    const uris = await Promise.all([push(pushed), push(pushed)])
    expect(new Set(uris.map(({ body }) => body.request_uri)).size).toBe(2)
  })

  test('12.1 the endpoint and its requirement are in the discovery document', async () => {
    const [optional, required] = [await setUp(), await setUp({ required: true })]
    expect(optional.provider.metadata).toMatchObject({ pushed_authorization_request_endpoint: parUrl })
    expect(optional.provider.metadata).not.toHaveProperty('require_pushed_authorization_requests')
    expect(required.provider.metadata).toMatchObject({ require_pushed_authorization_requests: true })
  })

  test.each([
    ['no credentials', 'anyone'] as const,
    ['a wrong secret', [web[0], 'wrong'] as const],
    ['an unknown client', ['unknown', 'wrong'] as const],
  ])('12.2 with %s is refused', async (_case, as) => {
    const { push } = await setUp()
    const { status, body } = await push(as === 'anyone' ? request : pushed, as)
    expect([status, body.error]).toEqual([401, 'invalid_client'])
  })

  test('12.2 a public client pushes with its client_id', async () => {
    const { push, urlOf, browser } = await setUp()
    const form = { ...pushed, client_id: 'spa', redirect_uri: 'http://127.0.0.1:5000/callback' }
    const { body } = await push({ ...form, code_challenge: challenge, code_challenge_method: 'S256' }, 'anyone')
    const { url } = await browser().open(urlOf({ client_id: 'spa', request_uri: String(body.request_uri) }))
    expect(url.origin).toBe('http://127.0.0.1:5000')
    expect(url.searchParams.get('code')).not.toBeNull()
  })

  test('12.2 another client_id than that of the credentials is refused', async () => {
    const { push } = await setUp()
    const { status } = await push({ ...pushed, client_id: otherClient[0] })
    expect(status).toBeGreaterThanOrEqual(400)
  })

  test.each([
    ['no redirect_uri', without('redirect_uri'), 'invalid_request'],
    ['an unregistered redirect_uri', { ...pushed, redirect_uri: 'https://evil.example/' }, 'invalid_request'],
    ['no response_type', without('response_type'), 'invalid_request'],
    ['code id_token', { ...pushed, response_type: 'code id_token' }, 'unsupported_response_type'],
    ['token', { ...pushed, response_type: 'token' }, 'unsupported_response_type'],
    ['an unknown scope', { ...pushed, scope: 'no' }, 'invalid_scope'],
    ['an unknown prompt', { ...pushed, prompt: 'no' }, 'invalid_request'],
    ['a malformed max_age', { ...pushed, max_age: '-1' }, 'invalid_request'],
    ['malformed claims', { ...pushed, claims: '{' }, 'invalid_request'],
    [
      'the challenge method plain',
      { ...pushed, code_challenge: challenge, code_challenge_method: 'plain' },
      'invalid_request',
    ],
    ['a request object', { ...pushed, request: 'a.b.c' }, 'request_not_supported'],
    ['a request object alone', { request: 'a.b.c' }, 'request_not_supported'],
    ['a state with a line break', { ...pushed, state: 'a\nb' }, 'invalid_request'],
    ['a request_uri', { ...pushed, request_uri: 'urn:ietf:params:oauth:request_uri:a' }, 'invalid_request'],
  ])('12.3 with %s is refused as JSON', async (_case, form, error) => {
    const { push } = await setUp()
    const { status, body } = await push(form)
    expect([status, body.error]).toEqual([400, error])
  })

  test('12.3 a repeated parameter is refused', async () => {
    const { provider } = await setUp()
    const body = new URLSearchParams(pushed)
    body.append('scope', 'api1')
    const headers = { authorization: basic(web) }
    const { status } = await provider.fetch(new Request(parUrl, { method: 'POST', headers, body }))
    expect(status).toBe(400)
  })

  test.each(['GET', 'PUT', 'DELETE'])('12.3 the method %s is refused', async (method) => {
    const { provider } = await setUp()
    const { status, headers } = await provider.fetch(new Request(parUrl, { method }))
    expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  })

  test('12.4 is stored without the credentials of the client, and without its URI', async () => {
    const stored = new Map<string, string>()
    const { push } = await setUp({}, undefined, { storage: mapDriver(stored) })
    const { status, body } = await push({ ...request, client_secret: web[1] }, 'anyone')
    expect(status).toBe(201)
    const text = JSON.stringify([...stored])
    expect(text).toContain(redirectUri)
    expect(text).not.toContain(web[1])
    expect(text).not.toContain(String(body.request_uri).slice(-43))
  })
})
