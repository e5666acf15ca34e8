import {
  defineEndpoint,
  defineGrant,
  definePlugin,
  type EndpointKit,
  OAuthError,
  type ProviderOptions,
} from '@grantry/core'
import { basic, read } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { api1, builtInPlugins, clients, fixture, web } from '../support/fixture.ts'

const issuer = 'https://id.example.com'

/** A plugin with one endpoint that runs a function. */
const probe = (handle: (kit: EndpointKit) => unknown, more: object = {}) =>
  definePlugin('probe', [
    defineEndpoint({
      name: 'probe',
      path: '/connect/probe',
      metadataName: 'probe_endpoint',
      methods: ['POST'],
      caller: 'client',
      ...more,
      handle: async (_call, kit) => ({ json: ((await handle(kit)) ?? null) as never }),
    }),
  ])

const start = (plugin: ProviderOptions['plugins'], options: Partial<ProviderOptions> = {}) =>
  fixture({ plugins: [builtInPlugins, plugin], ...options })

describe('an endpoint of a plugin', () => {
  test('has a path, a handler and a member of the discovery document', async () => {
    const { provider, post } = await start(probe(() => 'found'))
    expect(provider.paths.probe).toBe('/connect/probe')
    expect(provider.methods.probe).toEqual(['POST'])
    expect(provider.metadata.probe_endpoint).toBe(`${issuer}/connect/probe`)
    expect(provider.route(new Request(`${issuer}/connect/probe`))).toBe(provider.handlers.probe)
    expect((await post('probe', {}, web)).body).toBe('found')
  })

  test('follows the path of the issuer, or precedes it', async () => {
    const options = { issuer: `${issuer}/tenant` }
    const { provider } = await start(
      probe(() => null),
      options,
    )
    expect(provider.paths.probe).toBe('/tenant/connect/probe')
    const wellKnown = await start(
      probe(() => null, { beforeIssuerPath: true }),
      options,
    )
    expect(wellKnown.provider.paths.probe).toBe('/connect/probe/tenant')
  })

  test('can be moved', async () => {
    const { provider } = await start(
      probe(() => null),
      { endpoints: { probe: '/moved' } as object },
    )
    expect(provider.metadata.probe_endpoint).toBe(`${issuer}/moved`)
    expect(provider.route(new Request(`${issuer}/connect/probe`))).toBeUndefined()
    expect(provider.route(new Request(`${issuer}/moved`))).toBe(provider.handlers.probe)
  })

  test('can be disabled', async () => {
    const { provider, post } = await start(
      probe(() => null),
      { endpoints: { probe: false } as object },
    )
    expect(provider.metadata).not.toHaveProperty('probe_endpoint')
    expect(provider.paths).not.toHaveProperty('probe')
    expect((await post('probe', {}, web)).status).toBe(404)
  })

  test('refuses other methods with the list of its own', async () => {
    const { provider } = await start(probe(() => null, { methods: ['GET', 'DELETE'] }))
    const response = await provider.fetch(new Request(`${issuer}/connect/probe`, { method: 'POST' }))
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('GET, DELETE, HEAD')
  })

  test.each(['client', 'scope', 'token'] as const)(
    'without parameters needs no body, if the credentials of the caller %s are in the header',
    async (caller) => {
      const scope = caller === 'token' ? 'api1' : undefined
      const { provider, post } = await start(probe(() => 'found', { caller, scope }))
      const form = { grant_type: 'client_credentials', scope: 'api1' }
      const { access_token } = (await post('token', form, web)).body
      const authorization = { client: basic(web), scope: basic(api1), token: `Bearer ${access_token}` }[caller]
      const send = async (init: RequestInit) =>
        (await provider.fetch(new Request(`${issuer}/connect/probe`, { method: 'POST', ...init }))).status
      expect(await send({ headers: { authorization } })).toBe(200)
      expect(await send({})).toBe(401)
      expect(await send({ body: new Uint8Array([1]) })).toBe(415)
      expect(await send({ headers: { authorization, 'content-type': 'text/plain' }, body: 'a' })).toBe(415)
    },
  )

  test('responds to HEAD like to GET, without a body', async () => {
    const { provider } = await start(probe(() => 'found', { methods: ['GET'], caller: 'anyone' }))
    const response = await provider.fetch(new Request(`${issuer}/connect/probe`, { method: 'HEAD' }))
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  test('records its name in events', async () => {
    const { post, events } = await start(probe(() => null))
    await post('probe', {}, web)
    expect(events.at(-1)).toMatchObject({ type: 'endpoint_succeeded', endpoint: 'probe', clientId: 'web', status: 200 })
  })

  test('fails with 500 without the message of the error, which an event contains', async () => {
    const { post, events } = await start(
      probe(() => {
        throw new Error('the database is broken')
      }),
    )
    const { status, body, failure } = await post('probe', {}, web)
    expect([status, body]).toEqual([500, { error: 'server_error' }])
    expect(failure).toEqual(new Error('the database is broken'))
    expect(events.slice(-2)).toMatchObject([
      { type: 'unhandled_failure', endpoint: 'probe', cause: { message: 'the database is broken' } },
      { type: 'endpoint_failed', endpoint: 'probe', error: 'server_error', status: 500 },
    ])
  })

  test('refuses with the error that it throws', async () => {
    const { post } = await start(
      probe(() => {
        throw new OAuthError('access_denied', 'Not today', { reason: 'plugin:probe:closed' })
      }),
    )
    const { status, body, failure } = await post('probe', {}, web)
    expect([status, failure]).toEqual([400, 'plugin:probe:closed'])
    expect(body).toEqual({ error: 'access_denied', error_description: 'Not today' })
  })

  test('that is guessable counts each invalid_token', async () => {
    const handle = () => {
      throw new OAuthError('invalid_token', 'The code is not valid', { reason: 'plugin:probe:unknown' })
    }
    const abuseControl = { validation: { failures: 2, window: 60 } }
    const statuses = async (guessable: boolean) => {
      const { post } = await start(probe(handle, { caller: 'anyone', guessable }), { abuseControl })
      const results = []
      for (let guess = 0; guess < 4; guess += 1)
        results.push((await post('probe', {}, undefined, '203.0.113.1')).status)
      return results
    }
    expect(await statuses(true)).toEqual([400, 400, 429, 429])
    expect(await statuses(false)).toEqual([400, 400, 400, 400])
  })
})

describe('the kit of an endpoint', () => {
  test('finds enabled clients only', async () => {
    const find = async (kit: EndpointKit) =>
      Promise.all(['web', 'off', 'unknown'].map(async (id) => (await kit.findClient(id))?.clientId ?? null))
    const off = { ...clients[0], clientId: 'off', enabled: false } as (typeof clients)[number]
    const { post } = await start(probe(find), { clients: [...clients, off] })
    expect((await post('probe', {}, web)).body).toEqual(['web', null, null])
  })

  test('returns the requested scopes', async () => {
    const { post } = await start(probe(async (kit) => kit.scopesOf({ scopes: ['api1', 'openid'] }, ' openid  api1')))
    expect((await post('probe', {}, web)).body).toEqual(['openid', 'api1'])
  })

  test.each([
    ['an unknown scope', 'api1 nothing', 'scope_unknown'],
    ['a scope of other clients', 'api2', 'scope_not_allowed'],
    ['a malformed scope', 'api1\tapi1', 'scope_malformed'],
    ['no scope', undefined, 'scope_missing'],
  ])('refuses %s as the token endpoint does', async (_, scope, reason) => {
    const handle = (kit: EndpointKit) => kit.scopesOf({ scopes: ['api1'] }, scope)
    const { post } = await start(probe(handle))
    expect(await post('probe', {}, web)).toMatchObject({
      status: 400,
      body: { error: 'invalid_scope' },
      failure: reason,
    })
  })

  test('shares its records with the other parts of the plugin', async () => {
    const grantType = 'urn:example:ticket'
    const tickets = definePlugin('tickets', [
      defineEndpoint({
        name: 'tickets',
        path: '/tickets',
        methods: ['POST'],
        caller: 'client',
        async handle({ caller }, kit) {
          const ticket = kit.randomId()
          await kit.records.put(ticket, caller.clientId, kit.now() + 60)
          return { status: 201, json: { ticket } }
        },
      }),
      defineGrant({
        grantType,
        params: v.object({ ticket: v.string() }),
        async handle({ client, params, scopes }, kit) {
          const owner = await kit.records.get(params.ticket, v.string())
          if (owner !== client.clientId) throw new OAuthError('invalid_grant', 'No', { reason: 'plugin:tickets:owner' })
          return { scopes }
        },
      }),
    ])
    const f = await start(tickets, {
      clients: clients.slice(0, 1).map((client) => ({ ...client, grantTypes: [grantType] })),
    })
    const issued = await f.post('tickets', {}, web)
    expect(issued.status).toBe(201)
    const form = { grant_type: grantType, ticket: issued.body.ticket, scope: 'api1' }
    expect((await f.post('token', form, web)).status).toBe(200)
  })
})

test('the facts of a request are its method, URL, headers, address and trace', async () => {
  const facts = definePlugin('facts', [
    defineEndpoint({
      name: 'facts',
      path: '/facts',
      methods: ['GET'],
      caller: 'anyone',
      handle({ request }) {
        const { method, url, clientAddress = null } = request
        const { traceparent } = request.trace()
        return { json: { method, url, clientAddress, cookie: request.header('cookie'), traceparent } }
      },
    }),
  ])
  const { provider } = await start(facts)
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const request = new Request(`${issuer}/facts?a=%zz`, { headers: { cookie: 'a=b', traceparent } })
  const { body } = await read(await provider.fetch(request, { clientAddress: '203.0.113.1' }))
  expect(body).toMatchObject({
    method: 'GET',
    url: `${issuer}/facts?a=%zz`,
    clientAddress: '203.0.113.1',
    cookie: 'a=b',
  })
  const fromHost = await provider.fetch(new Request('https://evil.example:8443/facts'))
  expect((await read(fromHost)).body.url).toBe(`${issuer}/facts`)
  expect(body.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/u)
})
