/**
 * Attack: an API checks a request more than once, for example in a hook of the server and in one of the route. The second
 * check does not find the proof used, because it is the same request. A thief tries to gain from that: it repeats the
 * proof in other requests, or sends one that only the first check would accept.
 */
import { describe, expect, test } from 'vitest'
import * as express from '../../packages/resource-server/src/express.ts'
import * as fastify from '../../packages/resource-server/src/fastify.ts'
import * as hono from '../../packages/resource-server/src/hono.ts'
import { createResourceServer, type ResourceServer } from '../../packages/resource-server/src/index.ts'
import * as koa from '../../packages/resource-server/src/koa.ts'
import { accepted, createBound, presenting, refusalOf } from '../resource-server/bound.ts'
import { audience, keyNamed, sign, url } from '../resource-server/issuer.ts'

/** An API whose replay store counts the proofs that it receives. */
async function createCounting() {
  const ids: string[] = []
  const replayStore = { insert: async (id: string) => !ids.includes(id) && ids.push(id) > 0 }
  return { ...(await createBound({ dpop: { baseUrl: audience, replayStore } })), ids, replayStore }
}

const rawHeadersOf = (token: string, proof: string) => ['authorization', `DPoP ${token}`, 'dpop', proof]

test('both checks of a request accept it, also at the same time, and use its proof up once', async () => {
  const { api, token, prove, ids } = await createCounting()
  const request = presenting(token, await prove())
  for (const outcome of await Promise.all([api.authorize(request), api.authorize(request)])) accepted(outcome)
  accepted(await api.authorize(request, { scopes: 'read' }))
  expect(ids).toHaveLength(1)
})

/** Sends a request through two middlewares. Returns the statuses with which they end it, or 200. */
type SendTwice = (api: ResourceServer, rawHeaders: readonly string[], scopes: string) => Promise<readonly number[]>

const inExpress: SendTwice = async (api, rawHeaders, scopes) => {
  const req = { method: 'GET', url: '/orders', rawHeaders }
  const check = (scope: string | undefined) =>
    new Promise<number>((resolve) => {
      const res = { statusCode: 200, setHeader: () => {}, end: () => resolve(res.statusCode) }
      express.requireToken(api, { scopes: scope })(req, res, () => resolve(200))
    })
  return [await check(undefined), await check(scopes)]
}

const inFastify: SendTwice = async (api, rawHeaders, scopes) => {
  const request = { raw: { method: 'GET', rawHeaders }, originalUrl: '/orders' }
  let status = 200
  const code = (sent: number) => {
    status = sent
  }
  const reply = { code, header: () => {}, send: () => {} }
  await fastify.requireToken(api)(request, reply)
  const first = status
  await fastify.requireToken(api, { scopes })(request, reply)
  return [first, status]
}

const inKoa: SendTwice = async (api, rawHeaders, scopes) => {
  const ctx = { req: { method: 'GET', rawHeaders }, originalUrl: '/orders', status: 200, body: '', set: () => {} }
  await koa.requireToken(api)(ctx, async () => {})
  const first = ctx.status
  await koa.requireToken(api, { scopes })(ctx, async () => {})
  return [first, ctx.status]
}

const inHono: SendTwice = async (api, [, authorization = '', , dpop = ''], scopes) => {
  const c = { req: { raw: new Request(url, { headers: { authorization, dpop } }) }, header: () => {} }
  const first = await hono.requireToken(api)(c, async () => {})
  const second = await hono.requireToken(api, { scopes })(c, async () => {})
  return [first?.status ?? 200, second?.status ?? 200]
}

test.each([
  ['Express', inExpress],
  ['Fastify', inFastify],
  ['Koa', inKoa],
  ['Hono', inHono],
])('two middlewares of %s accept a request, and refuse its proof in another one', async (_, send) => {
  const { api, token, prove } = await createCounting()
  const rawHeaders = rawHeadersOf(token, await prove())
  expect(await send(api, rawHeaders, 'read')).toEqual([200, 200])
  expect(await send(api, rawHeaders, 'read')).toEqual([401, 401])
  expect(await send(api, rawHeadersOf(token, await prove()), 'delete')).toEqual([200, 403])
})

describe('the second check refuses', () => {
  test('a token without the scopes that it requires', async () => {
    const { api, token, prove } = await createCounting()
    const request = presenting(token, await prove())
    accepted(await api.authorize(request))
    expect(refusalOf(await api.authorize(request, { scopes: 'delete' }))[2]).toBe('scope_missing')
  })

  test.each<[string, object, string]>([
    ['another method', { method: 'DELETE' }, 'htm_mismatch'],
    ['another URL', { url: `${audience}/admin` }, 'htu_mismatch'],
  ])('%s, although the object of the request is the same', async (_, change, reason) => {
    const { api, token, prove } = await createCounting()
    const { method, headers } = presenting(token, await prove())
    const first = { method, url, headers, identity: {} }
    accepted(await api.authorize(first))
    expect((await api.authorize({ ...first, ...change })).reason).toBe(reason)
  })

  test('a proof that another request has used, or that has become too old', async () => {
    const { api, token, prove, test: t } = await createCounting()
    const [used, fresh] = [await prove(), await prove()]
    accepted(await api.authorize(presenting(token, used)))
    const { method, headers } = presenting(token, fresh)
    const request = { method, url, headers, identity: {} }
    accepted(await api.authorize(request))
    expect((await api.authorize({ ...request, headers: presenting(token, used).headers })).reason).toBe('replayed')
    t.now += 61
    expect((await api.authorize(request)).reason).toBe('proof_too_old')
  })

  test('another token with the same proof', async () => {
    const { api, token, client, prove } = await createCounting()
    const proof = await prove()
    const request = { method: 'GET', url, identity: {} }
    accepted(await api.authorize({ ...request, headers: presenting(token, proof).headers }))
    const otherToken = await sign(await keyNamed('one'), { cnf: { jkt: client.thumbprint } })
    const outcome = await api.authorize({ ...request, headers: presenting(otherToken, proof).headers })
    expect(outcome.reason).toBe('ath_mismatch')
  })

  test('a request whose proof could not be stored, or was used before', async () => {
    const { token, prove, test: t, api } = await createCounting()
    let isDown = true
    const insert = () => isDown === false || expect.fail('down')
    const failing = createResourceServer({ ...t.options, dpop: { baseUrl: audience, replayStore: { insert } } })
    const proof = await prove()
    const request = presenting(token, proof)
    expect((await failing.authorize(request)).response?.status).toBe(503)
    isDown = false
    // The store may have stored it before it failed.
    expect((await failing.authorize(request)).response?.status).toBe(503)
    accepted(await api.authorize(presenting(token, proof)))
    const replayed = presenting(token, proof)
    for (const _ of [1, 2]) expect((await api.authorize(replayed)).reason).toBe('replayed')
  })
})

test('requests on one connection are distinguished, although they have the same source', async () => {
  const { api, token, prove } = await createCounting()
  const proof = await prove()
  const source = {}
  const send = async () => {
    const { method, headers } = presenting(token, proof)
    return api.authorize({ method, url, headers, source })
  }
  accepted(await send())
  expect((await send()).reason).toBe('replayed')
})

test('another resource server does not rely on the first one', async () => {
  const { api, token, prove, test: t, replayStore } = await createCounting()
  const otherServer = createResourceServer({ ...t.options, dpop: { baseUrl: audience, replayStore } })
  const request = presenting(token, await prove())
  accepted(await api.authorize(request))
  expect((await otherServer.authorize(request)).reason).toBe('replayed')
})
