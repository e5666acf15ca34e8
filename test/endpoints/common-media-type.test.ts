import type { EndpointName } from '@grantry/core'
import { read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { fixture, redirectUri, web } from '../support/fixture.ts'

const posting: readonly EndpointName[] = [
  'token',
  'identityTokenValidation',
  'userinfo',
  'accessTokenValidation',
  'introspection',
]
const form = new URLSearchParams({
  grant_type: 'client_credentials',
  scope: 'api1',
  client_id: web[0],
  client_secret: web[1],
}).toString()

/** Bytes, because `Request` adds a media type to a string. */
const post = (type: string | undefined, text = form): Request =>
  new Request('https://id.example.com/anywhere', {
    method: 'POST',
    body: new TextEncoder().encode(text),
    ...(type !== undefined && { headers: { 'content-type': type } }),
  })

describe('media type of a POST', () => {
  test.each([
    'application/x-www-form-urlencoded',
    'application/x-www-form-urlencoded;charset=UTF-8',
    'application/x-www-form-urlencoded; charset=utf-8',
    'application/x-www-form-urlencoded ; charset="utf-8"; x=y',
    'application/x-www-form-urlencoded; charset=iso-8859-1',
    'application/x-www-form-urlencoded;',
    'Application/X-WWW-Form-URLencoded',
  ])('1.8 accepts a form sent as %s', async (type) => {
    const { provider } = await fixture()
    expect((await provider.handlers.token(post(type))).status).toBe(200)
  })

  test.each(
    posting.flatMap((endpoint) =>
      [
        'application/json',
        'multipart/form-data; boundary=x',
        'text/plain',
        'application/x-www-form-urlencodedx',
        'application/x-www-form-urlencoded, application/json',
        'x; application/x-www-form-urlencoded',
        'x-www-form-urlencoded',
        '',
        undefined,
      ].map((type) => ({ endpoint, type })),
    ),
  )('1.8 $endpoint rejects the media type $type with 415', async ({ endpoint, type }) => {
    const { provider, events } = await fixture()
    const { status, body, headers } = await read(await provider.handlers[endpoint](post(type)))
    expect(status).toBe(415)
    expect(body).toEqual({ error: 'invalid_request', error_description: expect.any(String) })
    expect(headers.get('cache-control')).toBe('no-store')
    expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 415, reason: 'media_type' })
  })

  test('1.8 ignores the charset parameter: the bytes are UTF-8', async () => {
    let seen: string | undefined
    const f = await fixture({
      users: {
        authenticate: ({ username }) => {
          seen = username
          return { sub: '1' }
        },
      },
    })
    const text = `${form.replace('client_credentials', 'password')}&username=Zo%C3%AB-é&password=x`
    const response = await f.provider.handlers.token(post('application/x-www-form-urlencoded; charset=latin1', text))
    expect(response.status).toBe(200)
    expect(seen).toBe('Zoë-é')
  })

  test('1.8 rejects a JSON body of a POST to userinfo even with a token in the header', async () => {
    const { provider } = await fixture()
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json' }
    const request = new Request('https://id.example.com/anywhere', { method: 'POST', headers, body: '{}' })
    expect((await provider.handlers.userinfo(request)).status).toBe(415)
  })

  test.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'x', undefined])(
    '1.8 accepts an empty body of a POST to userinfo with the media type %s and the token in the header',
    async (type) => {
      const f = await fixture()
      const grant = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
      const { body: tokens } = await f.post('token', grant, web)
      const authorization = `Bearer ${tokens.access_token}`
      for (const body of [undefined, new Uint8Array(), new ReadableStream({ start: (stream) => stream.close() })]) {
        const request = new Request('https://id.example.com/anywhere', {
          method: 'POST',
          headers: { authorization, ...(type !== undefined && { 'content-type': type }) },
          ...(body !== undefined && { body, duplex: 'half' }),
        })
        expect((await f.provider.handlers.userinfo(request)).status).toBe(200)
      }
    },
  )
})
