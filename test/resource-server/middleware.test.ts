import { describe, expect, test } from 'vitest'
import * as express from '../../packages/resource-server/src/express.ts'
import * as fastify from '../../packages/resource-server/src/fastify.ts'
import * as hono from '../../packages/resource-server/src/hono.ts'
import type { AccessToken, ResourceServer } from '../../packages/resource-server/src/index.ts'
import * as koa from '../../packages/resource-server/src/koa.ts'
import { createBound } from './bound.ts'
import { audience, createApi, keyNamed, sign } from './issuer.ts'

// The middlewares with the parts of frameworks that they use. `test/examples` starts the real frameworks.

/** What a middleware has done with a request. */
interface Outcome {
  readonly status: number
  readonly headers: Headers
  readonly body: string
  /** The token that the handler gets, if it is called. */
  readonly token: AccessToken | undefined
}

type Send = (api: ResourceServer, rawHeaders: readonly string[], scopes?: string) => Promise<Outcome>

const sendExpress: Send = (api, rawHeaders, scopes) =>
  new Promise((resolve, reject) => {
    const req = { method: 'GET', url: '/', originalUrl: '/orders?a=1', rawHeaders: [':path', '/', ...rawHeaders] }
    const headers = new Headers()
    const end = (body: string) => resolve({ status: res.statusCode, headers, body, token: undefined })
    const res = { statusCode: 200, setHeader: (name: string, value: string) => headers.set(name, value), end }
    express.requireToken(api, { scopes })(req, res, (error) => {
      if (error !== undefined) reject(error)
      else resolve({ status: 200, headers, body: '', token: express.tokenOf(req) })
    })
  })

const sendKoa: Send = async (api, rawHeaders, scopes) => {
  const headers = new Headers()
  const set = (name: string, value: string) => headers.set(name, value)
  const ctx = { req: { method: 'GET', rawHeaders }, originalUrl: '/orders', status: 200, body: '', set }
  let token: AccessToken | undefined
  await koa.requireToken(api, { scopes })(ctx, async () => {
    token = koa.tokenOf(ctx)
  })
  return { status: ctx.status, headers, body: ctx.body, token }
}

const sendFastify: Send = async (api, rawHeaders, scopes) => {
  const headers = new Headers()
  let [status, body] = [200, '']
  const reply = {
    code: (code: number) => {
      status = code
    },
    header: (name: string, value: string) => headers.set(name, value),
    raw: { setHeader: (name: string, value: string) => headers.set(name, value) },
    send: (text: string) => {
      body = text
      return reply
    },
  }
  const request = { raw: { method: 'GET', rawHeaders }, originalUrl: '/orders' }
  const result = await fastify.requireToken(api, { scopes })(request, reply)
  return { status, headers, body, token: result === reply ? undefined : fastify.tokenOf(request) }
}

const sendHono: Send = async (api, rawHeaders, scopes) => {
  const headers = new Headers()
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '')
  const sent = new Headers()
  const raw = new Request(`${audience}/orders`, { headers })
  const c = { req: { raw }, header: (name: string, value: string) => sent.set(name, value) }
  let token: AccessToken | undefined
  const response = await hono.requireToken(api, { scopes })(c, async () => {
    token = hono.tokenOf(c)
  })
  const body = (await response?.text()) ?? ''
  return { status: response?.status ?? 200, headers: response?.headers ?? sent, body, token }
}

describe.each([
  ['Express', sendExpress],
  ['Koa', sendKoa],
  ['Fastify', sendFastify],
  ['Hono', sendHono],
])('the middleware for %s', (_, send) => {
  test('passes on a request with a valid token', async () => {
    const { api } = await createApi()
    const { token } = await send(api, ['Authorization', `Bearer ${await sign(await keyNamed('one'))}`], 'read')
    expect(token?.claims.sub).toBe('alice')
  })

  test('refuses other requests with the challenge', async () => {
    const { api } = await createApi()
    const token = await sign(await keyNamed('one'))
    const missing = await send(api, [])
    expect([missing.status, missing.body, missing.token]).toEqual([401, '', undefined])
    expect(missing.headers.get('www-authenticate')).toBe('Bearer')
    const refused = await send(api, ['authorization', `Bearer ${token}`], 'delete')
    expect([refused.status, refused.token]).toEqual([403, undefined])
    expect(refused.headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(refused.body)).toMatchObject({ error: 'insufficient_scope' })
  })

  test('refuses a request with two Authorization headers', async () => {
    const { api } = await createApi()
    const value = `Bearer ${await sign(await keyNamed('one'))}`
    expect((await send(api, ['Authorization', value, 'authorization', value])).status).toBe(400)
  })

  test('checks a proof against the public URL, and sends a renewed nonce', async () => {
    const { api, token, client, prove, test: t } = await createBound({ dpop: { baseUrl: audience, nonce: true } })
    const sendProof = async (nonce?: string | null) =>
      send(api, ['authorization', `DPoP ${token}`, 'dpop', await prove({ nonce: nonce ?? undefined })])
    const refused = await sendProof()
    const nonce = refused.headers.get('dpop-nonce')
    expect([refused.status, refused.token]).toEqual([401, undefined])
    expect((await sendProof(nonce)).token?.claims.cnf).toEqual({ jkt: client.thumbprint })
    // The token is accepted for some seconds after it has expired.
    t.now += 300
    const renewed = await sendProof(nonce)
    expect(renewed.token).toBeDefined()
    expect(renewed.headers.get('dpop-nonce')).not.toBe(nonce)
    expect(renewed.headers.get('dpop-nonce')).toMatch(/^[\w-]{43}$/u)
  })

  test('fails with an error of the check', async () => {
    const fail = () => Promise.reject(new Error('defect'))
    const api = { metadata: () => undefined, authorize: fail } as unknown as ResourceServer
    await expect(send(api, [])).rejects.toThrow('defect')
  })

  test('reports a wrong requirement when it is created', async () => {
    const { api } = await createApi()
    await expect((async () => send(api, [], 'a b'))()).rejects.toThrow(TypeError)
  })
})

test('tokenOf() throws for a request that no middleware has checked', () => {
  expect(() => express.tokenOf({})).toThrow(/requireToken\(\) has not run/u)
})

test.each([
  ['an absolute target', 'https://evil.example/orders'],
  ['a target with two slashes', '//evil.example/orders'],
  ['an asterisk', '*'],
  ['none', undefined],
])('%s does not change the host that a proof must name', async (_, target) => {
  const { api, token, prove } = await createBound()
  const authorize = async (htu: string) => {
    const req = {
      method: 'GET',
      url: target,
      rawHeaders: ['authorization', `DPoP ${token}`, 'dpop', await prove({ htu })],
    }
    const res = { statusCode: 200, setHeader: () => {}, end: () => {} }
    return new Promise((resolve) => {
      express.requireToken(api)(req, { ...res, end: () => resolve('refused') }, () => resolve('accepted'))
    })
  }
  expect(await authorize('https://evil.example/orders')).toBe('refused')
})

test('the function for certificates receives the request of the framework', async () => {
  const sources: unknown[] = []
  const { api } = await createApi({ clientCertificate: ({ source }) => void sources.push(source) })
  const token = await sign(await keyNamed('one'), { cnf: { 'x5t#S256': 'x' } })
  const req = { method: 'GET', url: '/', rawHeaders: ['authorization', `Bearer ${token}`], socket: {} }
  const status = await new Promise((resolve) => {
    const res = { statusCode: 200, setHeader: () => {}, end: () => resolve(res.statusCode) }
    express.requireToken(api)(req, res, resolve)
  })
  expect([status, sources]).toEqual([401, [req]])
})
