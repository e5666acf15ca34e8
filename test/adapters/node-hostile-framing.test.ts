/**
 * Attack: malformed or hostile HTTP: request smuggling (two lengths, false lengths, broken chunks), targets that are
 * not valid URLs, foreign hosts, methods that echo. The Node adapter refuses each within a few seconds, without a
 * server error or a stack trace, and keeps serving.
 *
 * RFC 9112 sections 3.2 (target, Host), 6.3 (length), 7.1 (chunks), 11.2 (smuggling); RFC 9110 section 9.3.8 (TRACE
 * must not reflect credentials).
 */
import { type RunningServer, serve } from '@grantry/adapters/node'
import { basic } from '@grantry/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { fixture, web } from '../support/fixture.ts'
import { sendRaw } from './raw-bytes.ts'

let server: RunningServer
beforeAll(async () => {
  server = await serve((await fixture()).provider, { onWarning: () => undefined })
})
afterAll(() => server.close(0))

// A failure of the adapter would be printed with its stack.
beforeEach(() => {
  for (const method of ['error', 'warn', 'log'] as const) vi.spyOn(console, method)
})
afterEach(() => {
  for (const method of ['error', 'warn', 'log'] as const) expect(console[method]).not.toHaveBeenCalled()
  vi.restoreAllMocks()
})

const raw = (text: string | Buffer, options?: { readonly cut?: boolean }): Promise<string> =>
  sendRaw(server, text, options)

const statuses = (response: string): number[] =>
  [...response.matchAll(/HTTP\/1\.1 (\d{3}) /gu)].map(([, code]) => Number(code))
const form = 'grant_type=client_credentials&scope=api1'
const lines = (...all: string[]): string => `${all.join('\r\n')}\r\n\r\n`
const headers = [
  'Host: x',
  `Authorization: ${basic(web)}`,
  'Content-Type: application/x-www-form-urlencoded',
  'Connection: close',
]
const post = (target = '/connect/token', more: string[] = [`Content-Length: ${form.length}`]): string =>
  lines(`POST ${target} HTTP/1.1`, ...headers, ...more)
const get = (target: string, ...more: string[]): string =>
  lines(`GET ${target} HTTP/1.1`, ...(more.length > 0 ? more : ['Host: x']), 'Connection: close')

async function expectAlive(): Promise<void> {
  const response = await raw(post() + form)
  expect(statuses(response)).toEqual([200])
  expect(response).toContain('"access_token"')
}

/** Expects a refusal without internal details. */
function expectRefused(response: string, status?: number): void {
  const [first = 0] = statuses(response)
  if (status !== undefined) expect(statuses(response)).toEqual([status])
  expect(first === 0 || (first >= 400 && first < 500)).toBe(true)
  expect(response).not.toMatch(/ at .*:\d+|node_modules|node:internal|Error:/u)
}

test('a valid request is served, so the requests below are refused for their defects', expectAlive)

describe('targets', () => {
  test('accepts the absolute form and ignores its host', async () => {
    expect(statuses(await raw(post('http://evil.example/connect/token') + form))).toEqual([200])
    expect(statuses(await raw(post('HTTPS://user:pw@evil.example:99/connect/token?x=1') + form))).toEqual([200])
    const response = await raw(get('https://evil.example/.well-known/openid-configuration'))
    expect(response).toContain('"issuer":"https://id.example.com"')
    expect(response).not.toContain('evil')
  })

  const strange =
    'http://evil.example http:// // //evil.example/connect/token /\\evil.example /connect/../../connect/x /% /%00 /connect/token/ http://[::1/connect /connect/token\u00e9'.split(
      ' ',
    )
  test.each([...strange, `/${'x'.repeat(8000)}`])('GET %s matches no endpoint', async (target) => {
    expectRefused(await raw(get(target)))
    await expectAlive()
  })

  test.each([
    'OPTIONS *',
    'GET *',
    'POST *',
    'GET evil.example:443',
    'GET connect/token',
    'GET ftp://x/connect/token',
    'GET ?x',
    'GET ',
    'CONNECT evil.example:443',
    'CONNECT /connect/token',
  ])('rejects %s', async (start) => {
    expectRefused(
      await raw(lines(`${start} HTTP/1.1`, 'Host: x', 'Connection: close'), { cut: start.startsWith('CONNECT') }),
    )
    await expectAlive()
  })

  test('refuses TRACE without an echo', async () => {
    const response = await raw(lines('TRACE /connect/token HTTP/1.1', ...headers, 'X-Secret: hunter2'))
    expectRefused(response, 405)
    expect(response).not.toContain('hunter2')
    expect(response).not.toContain(basic(web))
  })

  test('1.92 TRACE gets 405 with Allow, no-store and an OAuth error', async () => {
    const response = await raw(lines('TRACE /connect/token HTTP/1.1', ...headers))
    expect(response).toMatch(/^allow: .*POST.*\r$/imu)
    expect(response).toMatch(/^cache-control: no-store\r$/imu)
    expect(response).toMatch(/^pragma: no-cache\r$/imu)
    expect(response).toMatch(/\{"error":"invalid_request","error_description":"[^"]+"\}/u)
  })
})

describe('hosts', () => {
  test('refuses HTTP/1.1 without Host', async () => {
    expectRefused(await raw(lines('GET /.well-known/jwks HTTP/1.1', 'Connection: close')), 400)
  })

  test('serves HTTP/1.0 without Host', async () => {
    expect(statuses(await raw(lines('GET /.well-known/jwks HTTP/1.0', '')))).toEqual([200])
  })

  test.each(['', 'evil.example', '[::1]:443', ':', '%', 'x'.repeat(5000), '*', 'id.example.com:99999'])(
    '%j does not change the response',
    async (host) => {
      const response = await raw(
        get(
          '/.well-known/openid-configuration',
          `Host: ${host}`,
          'X-Forwarded-Host: evil.example',
          'X-Forwarded-Proto: http',
        ),
      )
      expect(statuses(response)).toEqual([200])
      expect(response).toContain('"issuer":"https://id.example.com"')
      expect(response).toContain('"token_endpoint":"https://id.example.com/connect/token"')
      expect(response).not.toContain('evil')
    },
  )
})

// RFC 9112 section 3.2: repeated or malformed Host headers get 400, because a proxy could read another host.
test.each(['a b', '[::', '[:: 1]', '[::1]:x', 'evil/..', '@', 'good@evil', '"', '\u00e9', 'x\r\nHost: y'])(
  'rejects the host %j',
  async (host) => {
    expectRefused(await raw(get('/.well-known/jwks', `Host: ${host}`)), 400)
  },
)

describe('headers', () => {
  test.each<[string, string[]]>([
    ['two Authorization headers', [`Authorization: ${basic(web)}`]],
    ['two Authorization headers in different cases', [`AUTHORIZATION: Bearer x`]],
    ['one of them empty', ['authorization:']],
  ])('rejects %s', async (_, more) => {
    expectRefused(await raw(post('/connect/token', [...more, `Content-Length: ${form.length}`]) + form), 400)
    await expectAlive()
  })

  test('refuses a header of 20,000 bytes and a request with 3,000 headers', async () => {
    expectRefused(await raw(get('/connect/userinfo', 'Host: x', `X-Long: ${'x'.repeat(20_000)}`)), 431)
    expectRefused(await raw(get('/connect/userinfo', 'Host: x', `Authorization: Bearer ${'x'.repeat(20_000)}`)), 431)
    expectRefused(await raw(get('/connect/userinfo', 'Host: x', ...Array.from({ length: 3000 }, (_, i) => `a${i}: 1`))))
    await expectAlive()
  })

  test.each(['Bearer \u00e9\u00ff\u0080', '\u00ff', 'Basic \u00e9', `Basic ${'\u00a0'}`])(
    'refuses the non-ASCII credentials %j',
    async (value) => {
      expectRefused(
        await raw(Buffer.from(get('/connect/userinfo', 'Host: x', `Authorization: ${value}`), 'latin1')),
        401,
      )
      await expectAlive()
    },
  )

  test.each([
    'X: a\u0000b',
    'X: a\u0001b',
    'X: a\rb',
    'X : a',
    ' X: a',
    'X',
    ': a',
    'X\u0000: a',
    'X(: a',
    '\u00e9: a',
  ])('rejects the header line %j', async (line) => {
    expectRefused(await raw(Buffer.from(get('/.well-known/jwks', 'Host: x', line), 'latin1'), { cut: true }), 400)
    await expectAlive()
  })

  test('accepts header names like __proto__', async () => {
    const response = await raw(get('/.well-known/jwks', 'Host: x', '__proto__: x', 'constructor: y', 'toString: z'))
    expect(statuses(response)).toEqual([200])
  })

  test.each([
    ['GET', lines('GET /.well-known/jwks HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket')],
    [
      'POST',
      `${lines('POST /connect/token HTTP/1.1', ...headers.slice(0, 3), 'Connection: Upgrade', 'Upgrade: h2c', `Content-Length: ${form.length}`)}${form}`,
    ],
  ])(
    '1.98 an upgrade by %s: its response closes the connection, and no later request is processed',
    async (_, upgrade) => {
      const earlier = lines('GET /.well-known/openid-configuration HTTP/1.1', 'Host: x')
      const responses = await raw(earlier + upgrade + get('/nothing'))
      expect(statuses(responses)).toEqual([200, 200])
      expect(responses.split('HTTP/1.1').at(-1)).toMatch(/^connection: close/imu)
    },
  )

  test('ignores an upgrade and refuses an unknown expectation', async () => {
    expect(statuses(await raw(get('/.well-known/jwks', 'Host: x', 'Upgrade: h2c', 'HTTP2-Settings: x')))).toEqual([200])
    expectRefused(await raw(get('/.well-known/jwks', 'Host: x', 'Expect: magic')), 417)
  })
})

describe('input that is not a request', () => {
  test.each([
    'GET /\r\n\r\n',
    'get / HTTP/1.1\r\nHost: x\r\n\r\n',
    'GET / HTTP/9.9\r\nHost: x\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\u0016\u0003\u0001\u0002\u0000',
    '\r\n\r\n\r\n',
    'HTTP/1.1 200 OK\r\n\r\n',
    '\u0000'.repeat(100),
    '{"a":1}',
    'x'.repeat(100_000),
  ])('rejects %j', async (text) => {
    expectRefused(await raw(text, { cut: true }))
    await expectAlive()
  })
})
