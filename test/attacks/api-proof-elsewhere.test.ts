/**
 * Attack: a thief has a token that is bound to a key, and an unused proof of its client for one URL. It sends both with a
 * target that the API and the router of the framework read differently, to use the proof at another host or path:
 *
 * - A target can be a URI without a hierarchy (HTTP/2 does not check it). Appended to the public URL of the API, its
 *   "path" becomes a host.
 * - URL parsers resolve dot segments and backslashes, and find a host after any number of slashes. Routers use the path
 *   as it was sent.
 */
import { once } from 'node:events'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { requireToken } from '../../packages/resource-server/src/express.ts'
import { accepted, createBound, presenting, refusalOf } from '../resource-server/bound.ts'
import { audience, url } from '../resource-server/issuer.ts'

type Bound = Awaited<ReturnType<typeof createBound>>

/** Sends the token with a proof for `htu` through a middleware, whose router uses the target as it is. */
async function sendTarget({ api, token, prove }: Bound, target: string, htu: string): Promise<'accepted' | 'refused'> {
  const rawHeaders = ['authorization', `DPoP ${token}`, 'dpop', await prove({ htu })]
  return new Promise((resolve) => {
    const res = { statusCode: 200, setHeader: () => {}, end: () => resolve('refused') }
    requireToken(api)({ method: 'GET', url: target, rawHeaders }, res, () => resolve('accepted'))
  })
}

describe('a proof for another host is refused', () => {
  const elsewhere = 'https://evil.example/orders'

  test.each([
    'x:@evil.example/orders',
    'x:evil.example/orders',
    'https:@evil.example/orders',
    'https://api.example@evil.example/orders',
    'x://evil.example/orders',
    '@evil.example/orders',
    ':443@evil.example/orders',
    '.evil.example/orders',
    'data:@evil.example/orders',
    'blob:https://evil.example/orders',
  ])('with the target %s', async (target) => {
    const bound = await createBound()
    expect(await sendTarget(bound, target, elsewhere)).toBe('refused')
    const headers = new Headers({ authorization: `DPoP ${bound.token}`, dpop: await bound.prove({ htu: elsewhere }) })
    expect(refusalOf(await bound.api.authorize({ method: 'GET', url: target, headers }))[2]).toBe('htu_mismatch')
  })

  test('on HTTP/2, with a scheme of the sender', async () => {
    const { api, token, prove } = await createBound()
    const check = requireToken(api)
    const server = createServer((req, res) => check(req, res, () => res.end('accepted'))).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const stream = session.request({
      ':scheme': 'x',
      ':path': 'x:@evil.example/orders',
      authorization: `DPoP ${token}`,
      dpop: await prove({ htu: elsewhere }),
    })
    const [headers] = await once(stream, 'response')
    stream.close()
    session.close()
    server.close()
    expect(headers[':status']).toBe(401)
  })
})

test.each([
  '/admin/../orders',
  '/admin/./../orders',
  '/./orders',
  '/orders/.',
  '/orders/x/..',
  '/admin/%2e%2e/orders',
  '/admin/%2E./orders',
  '/admin\\..\\..\\orders',
  '/admin/\\..\\..\\orders',
  '\\orders',
  '/or\tders',
  '/orders\u00a0',
  'http:///orders',
  'http:///admin/orders',
  'http:/admin/orders',
  'http:admin/orders',
  'http:\\\\admin\\orders',
  'http://a\\orders',
  // Fastify takes everything before the third slash for the host, also a query.
  'http://a?/orders',
  // The parser of Express and Koa ends the host at a semicolon.
  'http://a;admin/orders',
  'ftp://a/orders',
])('a proof for another path is refused with the target %j', async (target) => {
  const bound = await createBound()
  for (const htu of [url, `${audience}/orders/`, `${audience}/`, `${audience}/orders%C2%A0`]) {
    expect(await sendTarget(bound, target, htu)).toBe('refused')
  }
})

test.each([
  ['/orders', '/orders'],
  ['/orders?to=/../x\\y', '/orders'],
  ['/orders#/../x', '/orders'],
  ['http://proxy.internal:8080/orders?a', '/orders'],
  ['https://[::1]/orders', '/orders'],
  ['http://proxy.internal', '/'],
  ['//orders', '//orders'],
  ['/a%2Fb', '/a%2fb'],
  ['/a%2f..%2fb', '/a%2F..%2Fb'],
  ['/a%5C..%5Cb', '/a%5C..%5Cb'],
  ['/a%252e%252e/b', '/a%252e%252e/b'],
  ['/caf%c3%a9/a%20b', '/café/a b'],
  ['/%7Ejoe', '/~joe'],
  ['/~joe', '/%7Ejoe'],
  ['/.well-known/..a/b../...', '/.well-known/..a/b../...'],
  ["/a;b=c,d(e)'f'/$g&h=i+j!*@:[k]|^", "/a;b=c,d(e)'f'/$g&h=i+j!*@:[k]|^"],
  ['/{a}', '/%7Ba%7D'],
])('a proof for the target %s is accepted', async (target, path) => {
  const bound = await createBound()
  expect(await sendTarget(bound, target, audience + path)).toBe('accepted')
  // A `Request` has the normalized URL, and the handlers of its framework have no other one.
  const to = new URL(target.startsWith('/') ? audience + target : target).href
  accepted(await bound.api.authorize(presenting(bound.token, await bound.prove({ htu: audience + path }), 'DPoP', to)))
})

test.each([
  ['/files/a%2Fb', '/files/a/b'],
  ['/files/a%3Fb', '/files/a?b'],
  ['/files/%2561', '/files/a'],
])('an escape of a character with a meaning is not decoded: %s is not %s', async (target, path) => {
  expect(await sendTarget(await createBound(), target, audience + path)).toBe('refused')
  expect(await sendTarget(await createBound(), path, audience + target)).toBe('refused')
})

test.each([
  ['/files/%C3%%419', '/files/%C3%A9'],
  ['/files/%%34%31', '/files/A'],
  ['/files/%%3441', '/files/%41'],
  ['/files/100%', '/files/100%25'],
  ['/files/%zz', '/files/%zz'],
])(
  'a target with a malformed escape, %s, is refused: to decode a part of it could result in %s',
  async (target, path) => {
    expect(await sendTarget(await createBound(), target, audience + path)).toBe('refused')
    expect(await sendTarget(await createBound(), path, audience + target)).toBe('refused')
  },
)

test('the path of a Request is the one that its parser has resolved', async () => {
  const { send, prove } = await createBound()
  const to = `${audience}/admin/../orders`
  accepted(await send(await prove(), { to }))
  expect((await send(await prove({ htu: `${audience}/admin` }), { to })).reason).toBe('htu_mismatch')
})

test.each([
  ['https://api.example/v1', 'https://api.example/v1/orders'],
  ['https://API.example:443/v1/', 'https://api.example/v1/orders'],
])('the public URL %s is the prefix of each path', async (baseUrl, htu) => {
  const bound = await createBound({ dpop: { baseUrl } })
  expect(await sendTarget(bound, '/orders', htu)).toBe('accepted')
  expect(await sendTarget(bound, '/../orders', url)).toBe('refused')
})
