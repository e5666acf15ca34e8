// Paths and methods that do not exist: browsers get a page, programs get JSON.
import { defineErrorPage, definePlugin, type Plugins } from '@grantry/core'
import { createPages } from '@grantry/pages'
import { languages } from '@grantry/pages/languages'
import { loginPage } from '@grantry/plugins/authorization-endpoint'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { errorPages } from '@grantry/plugins/error-pages'
import { signIn } from '@grantry/plugins/sign-in'
import { createTestProvider } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { setUp } from '../authorization/parties.ts'
import { memoryAccounts } from '../self-service/parties.ts'

const issuer = 'https://id.example.com'
const accepts = {
  chromium: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  firefox: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  plain: 'text/html',
}
const programs: readonly Readonly<Record<string, string>>[] = [
  {},
  { accept: '*/*' },
  { accept: 'application/json' },
  { accept: 'application/json, text/plain, */*' },
  { accept: 'application/json, text/html' },
  { accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' },
  { accept: accepts.chromium, 'sec-fetch-mode': 'cors' },
  { accept: accepts.chromium, 'sec-fetch-mode': 'no-cors' },
  { accept: 'image/avif,image/webp,*/*;q=0.8' },
]

async function open(locales: Parameters<typeof createPages>[0] = { languages }) {
  const pages = createPages(locales)
  const { authenticate } = memoryAccounts()
  const f = await setUp(signIn({ pages }), { pages }, { users: { authenticate } })
  const get = async (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET') => {
    const response = await f.provider.fetch(new Request(`${issuer}${path}`, { headers, method }))
    return { status: response.status, headers: response.headers, body: await response.text() }
  }
  return { ...f, get }
}

const pages = createPages({ languages })
const ofError = (text: string) => definePlugin('own', [defineErrorPage(() => ({ html: text }))])

describe('a program without an authorization endpoint', () => {
  const open = async (...plugins: readonly Plugins[]) => {
    const { provider, events } = await createTestProvider({ plugins: [clientCredentials(), ...plugins], clients: [] })
    const get = async (path: string, headers: Readonly<Record<string, string>>, method = 'GET') => {
      const response = await provider.fetch(new Request(`${issuer}${path}`, { headers, method }))
      return { status: response.status, headers: response.headers, body: await response.text() }
    }
    return { get, events }
  }

  test.each([
    ['/nothing?client_id=https://evil.example/c', 404],
    ['/connect/token', 405],
  ])('1.103 has pages if it has errorPages(): %s', async (path, expected) => {
    const { get, events } = await open(errorPages({ pages }))
    const { status, headers, body } = await get(path, { accept: accepts.firefox, 'accept-language': 'ar' })
    expect([status, headers.get('content-type')]).toEqual([expected, 'text/html; charset=utf-8'])
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; form-action 'self'")
    expect(body).toContain('<html lang="ar" dir="rtl"')
    expect(body).toContain(`<a id="home" href="${issuer}/"`)
    expect(body).not.toContain('evil')
    const head = await get(path, { accept: accepts.chromium }, 'HEAD')
    expect([head.status, head.headers.get('content-type'), head.body]).toEqual([
      expected,
      'text/html; charset=utf-8',
      '',
    ])
    for (const accept of programs)
      expect((await get(path, accept)).headers.get('content-type')).toBe('application/json')
    expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed' })
  })

  test('1.103 has pages if it has loginPage()', async () => {
    const plain = await open(loginPage())
    expect((await plain.get('/nothing', { accept: accepts.plain })).body).toContain(
      '<h1>This request cannot be completed',
    )
    const { get } = await open(loginPage({ pages }))
    expect((await get('/nothing', { accept: accepts.plain })).body).toContain('<h1>Page not found</h1>')
  })

  test('has JSON without pages, and if the page fails', async () => {
    const failing = definePlugin('own', [
      defineErrorPage(() => {
        throw new Error('no pages')
      }),
    ])
    for (const plugin of [undefined, failing]) {
      const { get } = await open(plugin)
      const { status, headers } = await get('/nothing', { accept: accepts.chromium })
      expect([status, headers.get('content-type')]).toEqual([404, 'application/json'])
    }
  })

  test('has the page of the first plugin', async () => {
    const { get } = await open(ofError('<p>first'), errorPages({ pages }))
    expect((await get('/nothing', { accept: accepts.chromium })).body).toBe('<p>first')
  })

  test('cannot have pages without a function', () => {
    expect(() => errorPages({ pages: {} as never })).toThrow(
      'errorPages(): pages must be the pages of createPages(): it has no function localeOf, error',
    )
  })
})

describe('a path that no endpoint has', () => {
  test.each(Object.values(accepts))('1.103 is a page for a browser that accepts %j', async (accept) => {
    const { get, events } = await open()
    const { status, headers, body } = await get('/connect/nothing-here', { accept })
    expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(body).toContain('<h1>Page not found</h1>')
    expect(body).toContain(`<a id="home" href="${issuer}/"`)
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; form-action 'self'; frame-ancestors 'none'/u,
    )
    expect(headers.get('cache-control')).toBe('no-store')
    expect(events.at(-1)).toMatchObject({ type: 'endpoint_failed', endpoint: 'unknown', reason: 'endpoint_unknown' })
  })

  test('is a page in the language of the browser', async () => {
    const { get } = await open()
    const { body } = await get('/nirgends', { accept: accepts.firefox, 'accept-language': 'de-DE,de;q=0.9' })
    expect(body).toContain('<html lang="de"')
    expect(body).toContain('<h1>Seite nicht gefunden</h1>')
  })

  test('has a page that links to no path without a page', async () => {
    const { get } = await open()
    const { body } = await get('/', { accept: accepts.firefox })
    expect(body).toContain('<h1>Page not found</h1>')
    expect(body).not.toContain('id="home"')
  })

  test('is an empty page for HEAD', async () => {
    const { get } = await open()
    const { status, headers, body } = await get('/nothing', { accept: accepts.chromium }, 'HEAD')
    expect([status, headers.get('content-type'), body]).toEqual([404, 'text/html; charset=utf-8', ''])
  })

  test.each(programs)('is JSON for a program that sends %j', async (headers) => {
    const { get } = await open()
    const { status, headers: sent, body } = await get('/connect/nothing-here', headers)
    expect([status, sent.get('content-type')]).toEqual([404, 'application/json'])
    expect(JSON.parse(body)).toMatchObject({ error: 'invalid_request' })
  })

  test('is JSON for a form', async () => {
    const { get } = await open()
    const { headers } = await get('/nothing', { accept: accepts.chromium }, 'POST')
    expect(headers.get('content-type')).toBe('application/json')
  })
})

test('1.103 a method that an endpoint does not have is a page for a browser', async () => {
  const { get } = await open()
  for (const path of ['/connect/token', '/connect/revocation']) {
    const { status, headers, body } = await get(path, { accept: accepts.chromium })
    expect([status, headers.get('allow')]).toEqual([405, expect.stringContaining('POST')])
    expect(body).toContain('<h1>Page not found</h1>')
    expect((await get(path, { accept: '*/*' })).body).toContain('"error":"invalid_request"')
  }
})

test('other refusals of an endpoint for programs stay JSON in a browser', async () => {
  const { get } = await open()
  const { status, headers } = await get('/connect/userinfo', { accept: accepts.chromium })
  expect([status, headers.get('content-type')]).not.toContain('text/html; charset=utf-8')
  expect(status).toBe(401)
})
