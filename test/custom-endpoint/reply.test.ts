import { defineEndpoint, definePlugin, htmlHeaders, OAuthError, type ProviderOptions, type Reply } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { setUp } from '../authorization/parties.ts'
import { builtInPlugins, fixture, web } from '../support/fixture.ts'

/** A provider with an endpoint that returns the reply. */
async function replying(
  reply: unknown,
  options: Partial<ProviderOptions> = {},
  caller: 'anyone' | 'client' = 'anyone',
) {
  const plugin = definePlugin('replying', [
    defineEndpoint({ name: 'reply', path: '/reply', methods: ['GET', 'POST'], caller, handle: () => reply as Reply }),
  ])
  const f = await fixture({ plugins: [builtInPlugins, plugin], ...options })
  const ask = async () => (await f.provider.handlers.reply?.(new Request('https://id.example.com/reply'))) as Response
  return { ...f, ask }
}

const headersOf = async (reply: Reply) => Object.fromEntries((await (await replying(reply)).ask()).headers)

describe('a JSON reply', () => {
  test('is not cacheable by default', async () => {
    expect(await headersOf({ json: { a: 1 } })).toEqual({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'x-content-type-options': 'nosniff',
    })
  })

  test('can have another status', async () => {
    const { ask } = await replying({ status: 201, json: { a: 1 }, location: 'https://id.example.com/things/1' })
    const response = await ask()
    expect([response.status, response.headers.get('location')]).toEqual([201, 'https://id.example.com/things/1'])
    expect(await response.json()).toEqual({ a: 1 })
  })

  test('is cacheable for maxAge seconds', async () => {
    const reply = Object.freeze({ json: { a: 1 }, maxAge: 60 })
    const { ask } = await replying(reply)
    for (let time = 0; time < 2; time += 1) {
      const response = await ask()
      expect(response.headers.get('cache-control')).toBe('public, max-age=60')
      expect(await response.json()).toEqual({ a: 1 })
    }
  })

  test('that is not frozen is serialized every time', async () => {
    const reply = { json: { count: 0 }, maxAge: 60 }
    const { ask } = await replying(reply)
    await ask()
    reply.json = { count: 1 }
    expect(await (await ask()).json()).toEqual({ count: 1 })
  })
})

test('an empty reply is 200 without a body and a media type', async () => {
  const response = await (await replying({})).ask()
  expect([response.status, await response.text()]).toEqual([200, ''])
  expect(response.headers.get('content-type')).toBeNull()
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect((await (await replying({ status: 204 })).ask()).status).toBe(204)
})

describe('an HTML reply', () => {
  const policy = async (sources: Reply['sources']) =>
    (await headersOf({ html: '<p>x</p>', sources }))['content-security-policy']

  test('has headers that allow a form to the own origin and nothing else', async () => {
    expect(await headersOf({ html: '<p>x</p>' })).toEqual({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'strict-transport-security': 'max-age=31536000',
      'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    })
  })

  test.each([
    ['https://id.example.com', 'max-age=31536000'],
    ['https://example.com/id', 'max-age=31536000'],
    ['https://localhost.example.com', 'max-age=31536000'],
    ['http://127.0.0.1:3000', undefined],
    // Browsers would apply it to servers of others at other ports.
    ['https://id.example.com:8443', undefined],
    ['https://localhost', undefined],
    ['https://id.localhost/a', undefined],
  ])('1.101 of the issuer %s has strict transport security: %s', async (issuer, expected) => {
    const { ask } = await replying({ html: '<p>x</p>' }, { issuer })
    expect((await ask()).headers.get('strict-transport-security') ?? undefined).toBe(expected)
    expect(htmlHeaders({}, issuer)['strict-transport-security']).toBe(expected)
  })

  test('1.101 has the same headers for HEAD, also if the endpoint has effects', async () => {
    const { provider } = await setUp()
    const head = new Request('https://id.example.com/connect/authorize', { method: 'HEAD' })
    expect((await provider.fetch(head)).headers.get('strict-transport-security')).toBe('max-age=31536000')
  })

  test('can allow styles, images and targets of forms', async () => {
    const hash = `'sha256-${'a'.repeat(43)}='`
    const sources = {
      style: ["'self'", hash],
      image: ['data:', 'https://cdn.example.com'],
      form: ['https://web.example.com:8443', 'com.example.app:', 'http://127.0.0.1:8080'],
    }
    expect(await policy(sources)).toBe(
      "default-src 'none'; form-action 'self' https://web.example.com:8443 com.example.app: http://127.0.0.1:8080; " +
        `frame-ancestors 'none'; base-uri 'none'; style-src 'self' ${hash}; img-src data: https://cdn.example.com`,
    )
    expect(await policy({ style: ["'self'"] })).not.toContain('img-src')
  })

  test('can leave out form-action: no source matches every private-use scheme', async () => {
    const rest = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"
    expect(await policy({ form: ['*'] })).toBe(rest)
    expect(await policy({ form: ['https:', '*'] })).toBe(rest)
  })

  test('can allow inline scripts by their hash, and forms to every origin of a scheme', async () => {
    const hash = `'sha256-${'a'.repeat(43)}='`
    expect(await policy({ script: [hash], form: ['https:', 'http:'] })).toBe(
      `default-src 'none'; form-action 'self' https: http:; frame-ancestors 'none'; base-uri 'none'; script-src ${hash}`,
    )
  })

  test('is text for the test kit', async () => {
    const { get } = await replying({ html: '<p>é</p>' })
    expect((await get('reply')).body).toBe('<p>é</p>')
  })

  test('can present an error, which determines the status and the event', async () => {
    const error = new OAuthError('invalid_request', 'Unknown client', { reason: 'plugin:replying:client' })
    const { get, events } = await replying({ html: '<p>Unknown client</p>', error })
    const { status, body, headers, failure } = await get('reply')
    expect([status, body, failure]).toEqual([400, '<p>Unknown client</p>', 'plugin:replying:client'])
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed', error: 'invalid_request', status: 400 })
  })
})

describe('a redirect', () => {
  test('is 303 by default, with an absolute URI', async () => {
    const location = 'https://web.example.com/callback?code=a%20b&state=%C3%A9'
    const response = await (await replying({ location })).ask()
    expect([response.status, response.headers.get('location')]).toEqual([303, location])
    expect((await (await replying({ status: 302, location })).ask()).status).toBe(302)
  })

  test.each(['com.example.app:/callback?a=b', 'http://127.0.0.1:8080/', 'http://[::1]/callback'])(
    'may lead to %s',
    async (location) => {
      expect((await (await replying({ location })).ask()).headers.get('location')).toBe(location)
    },
  )

  test('can report an error to the client: events contain its reason', async () => {
    const error = new OAuthError('access_denied', 'Denied', { reason: 'plugin:replying:denied' })
    const { ask, events } = await replying({ location: 'https://web.example.com/?error=access_denied', error })
    expect((await ask()).status).toBe(303)
    expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed', reason: 'plugin:replying:denied', status: 303 })
  })
})

describe('cookies', () => {
  const cookies = [
    'a=1; Path=/connect; Max-Age=600; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly; Secure; SameSite=Lax',
    '__Host-b="x"; Path=/; Secure; SameSite=Strict; Partitioned',
    'c=; Max-Age=0',
  ]

  test('are separate headers', async () => {
    const response = await (await replying({ html: '', cookies })).ask()
    expect(response.headers.getSetCookie()).toEqual(cookies)
  })

  test('are kept with CORS, trace headers and HEAD', async () => {
    const plugin = definePlugin('replying', [
      defineEndpoint({
        name: 'reply',
        path: '/reply',
        methods: ['GET'],
        caller: 'anyone',
        cors: 'clients',
        handle: () => ({ json: null, cookies }),
      }),
    ])
    const { provider } = await fixture({ plugins: [builtInPlugins, plugin], traceHeaders: true })
    for (const method of ['GET', 'HEAD']) {
      const origins: Record<string, string>[] = [{}, { origin: 'https://web.example.com' }]
      for (const headers of origins) {
        const response = await provider.fetch(new Request('https://id.example.com/reply', { method, headers }))
        expect(response.headers.getSetCookie()).toEqual(cookies)
        expect(response.headers.get('x-request-id')).not.toBeNull()
      }
    }
  })
})

describe('a malformed reply is a defect: 500, with the cause in an event', () => {
  const badError = new OAuthError('invalid_request', 'x', { reason: 'x', status: 418 as 404 })
  test.each<[string, unknown]>([
    ['is not an object', null],
    ['is not an object', 'text'],
    ['headers other than', { json: 1, headers: { a: 'b' } }],
    ['unknown member', { cookie: ['a=b'] }],
    ['unknown status', { json: 1, status: 200.5 }],
    ['unknown status', { json: 1, status: 99 }],
    ['unknown status', { json: 1, status: '200' }],
    ['unknown status', { json: 1, status: 400 }],
    ['unknown status', { status: 303 }],
    ['unknown status', { status: 200, location: 'https://web.example.com/' }],
    ['unknown status', { status: 307, location: 'https://web.example.com/' }],
    ['status 204', { status: 204, json: 1 }],
    ['json that is not JSON', { json: () => 1 }],
    ['BigInt', { json: 1n }],
    ['html that is not a string', { html: 1 }],
    ['has html, and also', { html: '', json: 1 }],
    ['has html, and also', { html: '', location: 'https://web.example.com/' }],
    ['both json and location', { json: 1, location: 'https://web.example.com/' }],
    ['sources but no html', { json: 1, sources: {} }],
    ['unknown kind font', { html: '', sources: { font: ["'self'"] } }],
    ['invalid script source', { html: '', sources: { script: ["'self'"] } }],
    ['invalid script source', { html: '', sources: { script: ["'unsafe-inline'"] } }],
    ['invalid script source', { html: '', sources: { script: ['https://cdn.example.com'] } }],
    ['invalid ancestor source', { html: '', sources: { ancestor: ['https://a.example; script-src *'] } }],
    ['invalid form source', { html: '', sources: { form: ['javascript:'] } }],
    ['malformed cookie', { cookies: 'a=b' }],
    ['invalid maxAge', { json: 1, maxAge: 0 }],
    ['invalid maxAge', { json: 1, maxAge: 60, cookies: ['a=b'] }],
    ['invalid maxAge', { html: '', maxAge: 60 }],
    ['malformed error', { html: '', error: new Error('x') }],
    ['malformed error', { html: '', error: badError }],
    ['throw the error instead', { error: new OAuthError('access_denied', 'x', { reason: 'x' }) }],
  ])('%s: %o', async (message, reply) => {
    const { get } = await replying(reply)
    const { status, body, failure } = await get('reply')
    expect([status, body]).toEqual([500, { error: 'server_error' }])
    expect(String(failure)).toContain(message)
  })

  test('a cacheable reply to an authenticated caller', async () => {
    const { post } = await replying({ json: 1, maxAge: 60 }, {}, 'client')
    expect(String((await post('reply', {}, web)).failure)).toContain('invalid maxAge')
  })
})
