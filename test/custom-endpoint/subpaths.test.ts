import { defineEndpoint, definePlugin, type Endpoint, type ProviderEvent } from '@grantry/core'
import { read } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { builtInPlugins, fixture, web } from '../support/fixture.ts'

const library = (more: Partial<Endpoint> = {}) =>
  definePlugin('library', [
    {
      ...defineEndpoint({
        name: 'library',
        path: '/library',
        subpaths: true,
        methods: ['GET', 'POST', 'PATCH', 'DELETE'],
        body: 'json',
        caller: 'anyone',
        params: v.any(),
        handle: ({ request, params }) => ({ json: { method: request.method, segments: request.segments, params } }),
      }),
      ...more,
    } as Endpoint,
  ])

async function start(issuer = 'https://id.example.com', more: Partial<Endpoint> = {}) {
  const f = await fixture({ issuer, plugins: [builtInPlugins, library(more)] })
  const send = async (path: string, init: RequestInit = {}) => {
    // An object, because `new Request()` resolves dot segments. Node.js adapters do not.
    const request = new Request(issuer, init)
    Object.defineProperty(request, 'url', { value: `https://id.example.com${path}` })
    return read(await f.provider.fetch(request))
  }
  return { ...f, send }
}

describe('an endpoint with subpaths', () => {
  test.each([
    ['/library', []],
    ['/library/books', ['books']],
    ['/library/books/12?a=1', ['books', '12']],
    ['/library/books/a%2Fb', ['books', 'a/b']],
    ['/library/books/a%2fb', ['books', 'a/b']],
    ['/library/books/caf%C3%A9%20%25', ['books', 'caf\u00e9 %']],
    ['/library/%6Fpenapi.json', ['openapi.json']],
    ['/library/...', ['...']],
    ['/library/a:b@c;d=e,f', ['a:b@c;d=e,f']],
  ])('has %s', async (path, segments) => {
    const { send } = await start()
    expect((await send(path)).body.segments).toEqual(segments)
  })

  test.each([
    '/library/',
    '/library//books',
    '/library/books/',
    '/library/.',
    '/library/..',
    '/library/books/../books',
    '/library/%2e%2E/connect/token',
    '/library/%',
    '/library/%E9',
    '/library/%00',
    '/library/a%0D%0Ab',
    `/library/${'a'.repeat(2001)}`,
    '/libraryx',
    '/Library/books',
    '//library/books',
  ])('does not have %s', async (path) => {
    const { send } = await start()
    expect((await send(path)).status).toBe(404)
  })

  test('has them below the path of the issuer, or where the host has moved it', async () => {
    const { send } = await start('https://id.example.com/tenants/a')
    expect((await send('/tenants/a/library/books')).body.segments).toEqual(['books'])
    expect((await send('/library/books')).status).toBe(404)
  })

  test('does not hide an endpoint with an exact path, and cannot be above one', async () => {
    const { provider } = await start()
    expect(provider.route(new Request('https://id.example.com/connect/token'))).toBe(provider.handlers.token)
    await expect(start(undefined, { path: '/connect' })).rejects.toThrow(
      /^endpoints: token has the path \/connect\/token, which is below that of library of the plugin library; move one/u,
    )
  })

  test('reads the body of PATCH: JSON, or a JSON Merge Patch', async () => {
    const { send } = await start()
    const patch = (type: string) =>
      send('/library/1', { method: 'PATCH', body: '{"a":1}', headers: { 'content-type': type } })
    expect((await patch('application/json')).body).toEqual({ method: 'PATCH', segments: ['1'], params: { a: 1 } })
    expect((await patch('application/merge-patch+json; charset=utf-8')).body.params).toEqual({ a: 1 })
    const refused = await patch('text/plain')
    expect([refused.status, refused.body.error_description]).toEqual([
      415,
      'The body must be application/json or application/merge-patch+json',
    ])
  })

  test('is one name in events, whatever the path contains', async () => {
    const { send, events } = await start()
    await send('/library/secret-text/1')
    await send('/library/secret-text//1')
    const ended = events.filter((event: ProviderEvent) => event.type.startsWith('endpoint_'))
    expect(ended.map(({ endpoint }) => endpoint)).toEqual(['library', 'library'])
    expect(JSON.stringify(events)).not.toContain('secret-text')
  })
})

describe('an endpoint for several scopes', () => {
  test('requires one of them', async () => {
    const scope = ['another', 'api2'] as const
    const { post, provider } = await start(undefined, { caller: 'token', scope, params: undefined, body: undefined })
    const statusWith = async (scopes: string) => {
      const { body } = await post('token', { grant_type: 'client_credentials', scope: scopes }, web)
      const headers = { authorization: `Bearer ${body.access_token}` }
      return (await provider.fetch(new Request('https://id.example.com/library/a', { headers }))).status
    }
    expect(await statusWith('api1')).toBe(403)
    expect(await statusWith('api2')).toBe(200)
  })
})

describe('an endpoint with problems', () => {
  test('refuses with problems, of its own and of the core', async () => {
    const { send, events } = await start(undefined, {
      problems: true,
      handle({ request }, kit) {
        if (request.segments[0] === 'defect') throw new Error('secret-text')
        const facts = { status: 412, member: 'a.b[0]', explanation: 'Wrong: secret-text' } as const
        throw kit.refuse('invalid_request', 'Wrong', 'wrong', facts)
      },
    })
    const refused = await send('/library')
    expect(refused.body).toEqual({
      type: 'about:blank',
      title: 'Precondition Failed',
      status: 412,
      detail: 'Wrong: secret-text',
      error: 'invalid_request',
      member: 'a.b[0]',
    })
    expect(refused.headers.get('content-type')).toBe('application/problem+json')
    expect(JSON.stringify(events)).not.toContain('secret-text')
    expect((await send('/library', { method: 'OPTIONS' })).body).toMatchObject({ status: 405 })
    const defect = await send('/library/defect')
    expect(defect.body).toEqual({
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
      error: 'server_error',
    })
  })
})

describe('headers of a reply', () => {
  const replying = (headers: object) =>
    start(undefined, { handle: () => ({ json: {}, headers }) as never }).then(({ send }) => send('/library'))

  test('are an ETag and a link', async () => {
    const link = '<https://id.example.com/library?after=a%22>; rel="next"'
    const { headers } = await replying({ etag: '"a"', link })
    expect([headers.get('etag'), headers.get('link')]).toEqual(['"a"', link])
  })

  test.each([
    { etag: 'a' },
    { etag: '"a"\r\nset-cookie: a=b' },
    { etag: '"a"b"' },
    { link: '<https://a>; rel="next"; b' },
    { link: '<https://a\n>; rel="next"' },
    { link: '<https://a>b>; rel="next"' },
    { 'set-cookie': 'a=b' },
    { 'content-type': 'text/html' },
  ])('cannot be %j', async (headers) => {
    expect((await replying(headers)).status).toBe(500)
  })
})
