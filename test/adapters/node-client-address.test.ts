/**
 * Attack: a client sends its own `X-Forwarded-For` to evade a rate limit or an allow list, or to put another address
 * into the log.
 *
 * RFC 7239 section 8.1: only the entries of trusted proxies are reliable. Each proxy appends one, so hops are counted
 * from the right. By default, the header is ignored.
 */

import { type RunningServer, serve } from '@grantry/adapters/node'
import { afterEach, describe, expect, test } from 'vitest'
import { fixture } from '../support/fixture.ts'

let running: RunningServer | undefined
afterEach(async () => {
  await running?.close(0)
  Reflect.deleteProperty(process.env, 'TRUST_PROXY')
  Reflect.deleteProperty(process.env, 'ORIGIN')
})

/** Returns the client address that the provider reports for a request with this header. */
async function seen(forwarded: string | undefined, trustedProxies?: number, more: Record<string, string> = {}) {
  await running?.close(0)
  const f = await fixture()
  running = await serve(f.provider, trustedProxies === undefined ? {} : { trustedProxies })
  const headers = { ...(forwarded !== undefined && { 'x-forwarded-for': forwarded }), ...more }
  await fetch(`http://${running.host}:${running.port}/connect/userinfo`, { headers })
  return f.events.flatMap((event) => (event.type === 'endpoint_failed' ? [event.clientAddress] : [])).at(-1)
}
const socket = '127.0.0.1'

describe('without trusted proxies', () => {
  test.each([undefined, '6.6.6.6', '6.6.6.6, 7.7.7.7', '', 'unknown'])('ignores the header %j', async (header) => {
    expect(await seen(header)).toBe(socket)
    expect(await seen(header, 0)).toBe(socket)
  })

  test('ignores similar headers', async () => {
    const names = ['x-real-ip', 'x-client-ip', 'cf-connecting-ip', 'true-client-ip', 'forwarded', 'x-forwarded']
    expect(await seen(undefined, 0, Object.fromEntries(names.map((name) => [name, '6.6.6.6'])))).toBe(socket)
  })

  test('ignores environment variables', async () => {
    process.env.TRUST_PROXY = '1'
    process.env.ORIGIN = 'https://evil.example'
    expect(await seen('6.6.6.6')).toBe(socket)
  })
})

describe('hops are counted from the right', () => {
  test.each([
    [1, '203.0.113.9', '203.0.113.9'],
    [1, '6.6.6.6, 203.0.113.9', '203.0.113.9'],
    [1, '6.6.6.6,7.7.7.7,203.0.113.9', '203.0.113.9'],
    [2, '203.0.113.9, 10.0.0.1', '203.0.113.9'],
    [2, '6.6.6.6, 203.0.113.9, 10.0.0.1', '203.0.113.9'],
    [3, '6.6.6.6, 203.0.113.9, 10.0.0.1, 10.0.0.2', '203.0.113.9'],
    [1, ' 6.6.6.6 ,  203.0.113.9 ', '203.0.113.9'],
    [1, '6.6.6.6, 2001:db8::9', '2001:db8::9'],
    [1, '6.6.6.6, ::ffff:203.0.113.9', '203.0.113.9'],
    // Azure's gateways append the port. Without an address, all clients would share one failure counter.
    [1, '6.6.6.6:1, 203.0.113.9:50123', '203.0.113.9'],
    [1, '6.6.6.6, [2001:db8::9]:50123', '2001:db8::9'],
    [1, '6.6.6.6, [2001:db8::9]', '2001:db8::9'],
    [1, '6.6.6.6, [::ffff:203.0.113.9]:50123', '203.0.113.9'],
  ])('%i trusted: %j is %s', async (trusted, header, expected) => {
    expect(await seen(header, trusted)).toBe(expected)
  })

  test('joins repeated headers', async () => {
    const f = await fixture()
    running = await serve(f.provider, { trustedProxies: 1 })
    const { request } = await import('node:http')
    await new Promise((resolve, reject) => {
      const headers = ['host', 'x', 'x-forwarded-for', '6.6.6.6', 'x-forwarded-for', '203.0.113.9']
      const req = request({ host: running?.host, port: running?.port, path: '/connect/userinfo', headers }, (res) => {
        res.resume().on('end', resolve)
      })
      req.on('error', reject).end()
    })
    expect(f.events.at(-1)?.clientAddress).toBe('203.0.113.9')
  })
})

describe('ignores values that are not addresses', () => {
  test.each([
    '',
    'unknown',
    '6.6.6.6, unknown',
    '6.6.6.6, ',
    '6.6.6.6,',
    '6.6.6.6, <script>',
    '6.6.6.6, 999.1.1.1',
    '6.6.6.6, 1.2.3.4:http',
    '6.6.6.6, 0x7f.1',
    '6.6.6.6, localhost',
  ])('%j: uses the socket address', async (header) => {
    expect(await seen(header, 1)).toBe(socket)
  })
})

/** Returns the status of the response to a request with these header lines. */
async function statusOf(lines: readonly string[]): Promise<number> {
  const { request } = await import('node:http')
  return new Promise((resolve, reject) => {
    const headers = ['host', 'x', ...lines]
    const req = request({ host: running?.host, port: running?.port, path: '/connect/userinfo', headers }, (res) => {
      res.resume().on('end', () => resolve(res.statusCode ?? 0))
    })
    req.on('error', reject).end()
  })
}

const padding = (lines: number): string[] => Array.from({ length: lines }, () => ['a', '']).flat()

describe('Node.js drops header lines beyond the thousandth', () => {
  test('1.100 refuses such a request, because the address that a proxy appends would be lost', async () => {
    const f = await fixture()
    const refused: unknown[] = []
    running = await serve(f.provider, { trustedProxies: 1, onRefused: (request) => refused.push(request) })
    const chosen = ['x-forwarded-for', '6.6.6.6']
    expect(await statusOf([...chosen, ...padding(1000), 'x-forwarded-for', '203.0.113.9'])).toBe(431)
    expect(f.events.filter(({ clientAddress }) => clientAddress === '6.6.6.6')).toEqual([])
    // Not the address that the client chose.
    expect(refused).toEqual([{ status: 431, method: 'GET', clientAddress: socket }])
  })

  test('1.100 serves fewer lines, with the address that the proxy appended', async () => {
    const f = await fixture()
    running = await serve(f.provider, { trustedProxies: 1 })
    expect(await statusOf(['x-forwarded-for', '6.6.6.6', ...padding(900), 'x-forwarded-for', '203.0.113.9'])).toBe(401)
    expect(f.events.at(-1)?.clientAddress).toBe('203.0.113.9')
  })
})
