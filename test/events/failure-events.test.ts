import type { AtomicDriver, ProviderEvent } from '@grantry/core'
import { mapDriver, sha256Of } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { traceFields } from '../support/event-fields.ts'
import { clients, type Fixture, fixture, web } from '../support/fixture.ts'

const forClient = { grant_type: 'client_credentials', scope: 'api1' }

const ofType = <T extends ProviderEvent['type']>({ events }: Fixture, type: T) =>
  events.filter((event): event is Extract<ProviderEvent, { type: T }> => event.type === type)

const ticking = () => {
  let elapsed = 0
  return { elapsed: () => (elapsed += 7) }
}

describe('the end of a request', () => {
  test('10.10 endpoint succeeded, with status and duration', async () => {
    const f = await fixture({ runtime: ticking() })
    await f.post('token', forClient, web)
    expect(f.events.at(-1)).toEqual({
      type: 'endpoint_succeeded',
      status: 200,
      httpMethod: 'POST',
      duration: 7,
      id: expect.any(String),
      ...traceFields,
      time: f.clock.now(),
      endpoint: 'token',
      clientId: 'web',
    })
  })

  test('10.10 endpoint failed, with status, duration, error and reason', async () => {
    const f = await fixture({ runtime: ticking() })
    await f.post('token', { ...forClient, scope: 'openid' }, web)
    expect(f.events.at(-1)).toEqual({
      type: 'endpoint_failed',
      status: 400,
      httpMethod: 'POST',
      duration: 7,
      error: 'invalid_scope',
      reason: 'scope_needs_subject',
      description: 'The scope is not valid',
      id: expect.any(String),
      ...traceFields,
      time: f.clock.now(),
      endpoint: 'token',
      clientId: 'web',
    })
  })

  test.each([
    ['token', { method: 'GET' }, 405, 'method_not_allowed'],
    ['introspection', { method: 'POST', body: '{}' }, 415, 'media_type'],
    ['userinfo', {}, 401, 'token_missing'],
    ['accessTokenValidation', {}, 400, 'parameter_missing'],
    ['discovery', { method: 'DELETE' }, 405, 'method_not_allowed'],
    ['jwks', {}, 200, undefined],
  ] as const)(
    '10.10 exactly one such event ends every request, whatever happened (%s %j)',
    async (endpoint, init, status, reason) => {
      const f = await fixture()
      const before = f.events.length
      await f.provider.handlers[endpoint](new Request('https://id.example.com/x', init))
      const ends = f.events.slice(before).filter(({ type }) => type.startsWith('endpoint_'))
      expect(ends).toHaveLength(1)
      expect(ends[0]).toBe(f.events.at(-1))
      expect(ends[0]).toMatchObject({ endpoint, status, ...(reason !== undefined && { reason }) })
    },
  )
})

describe('a path that is not an endpoint', () => {
  const secret = 'a-token-in-the-path'

  test.each([
    ['fetch', 'GET', (f: Fixture) => f.provider.fetch],
    ['fetch', 'POST', (f: Fixture) => f.provider.fetch],
    ['the handler of a disabled endpoint', 'GET', (f: Fixture) => f.provider.handlers.jwks],
  ] as const)('10.24 is reported without the path: %s, %s', async (_, method, handlerOf) => {
    const f = await fixture({ endpoints: { jwks: false }, runtime: ticking() })
    const request = new Request(`https://id.example.com/${secret}?token=${secret}`, { method })
    const response = await handlerOf(f)(request, { clientAddress: '192.0.2.1' })
    expect([response.status, await response.json()]).toEqual([
      404,
      { error: 'invalid_request', error_description: 'There is no such endpoint' },
    ])
    expect(f.events.at(-1)).toEqual({
      type: 'endpoint_failed',
      status: 404,
      httpMethod: method,
      duration: 7,
      error: 'invalid_request',
      reason: 'endpoint_unknown',
      description: 'There is no such endpoint',
      id: expect.any(String),
      ...traceFields,
      time: f.clock.now(),
      endpoint: 'unknown',
      clientAddress: '192.0.2.1',
    })
    expect(JSON.stringify(f.events)).not.toContain(secret)
  })
})

test('10.11 a failure outside of every handler is reported too', async () => {
  const f = await fixture()
  const broken = { url: 'https://id.example.com/connect/token', method: 'POST', headers: null } as unknown as Request
  expect((await f.provider.fetch(broken)).status).toBe(500)
  expect(f.events.at(-1)).toMatchObject({ type: 'unhandled_failure', reason: 'router_failed', endpoint: 'token' })
})

describe('unhandled failures', () => {
  const outage = new Error('ECONNREFUSED')
  const cause = { name: 'Error', message: outage.message, stack: outage.stack }

  test('10.11 a storage outage, with the error', async () => {
    const good = mapDriver()
    let fails = false
    const driver: AtomicDriver = {
      ...good,
      setItem(key, value, options) {
        if (fails) throw outage
        return good.setItem?.(key, value, options)
      },
    }
    const f = await fixture({ storage: driver })
    fails = true
    const response = await f.post('token', forClient, web)
    expect([response.status, response.body.error]).toEqual([503, 'temporarily_unavailable'])
    expect(JSON.stringify(response.body)).not.toContain('ECONN')
    const [failure] = ofType(f, 'unhandled_failure')
    expect(failure).toMatchObject({ reason: 'storage_failed', endpoint: 'token', clientId: 'web' })
    expect(failure?.cause).toMatchObject({ name: 'Error', message: 'ECONNREFUSED', stack: outage.stack })
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 503, reason: 'storage_failed' })
  })

  test('10.11 a host port that throws, with the error', async () => {
    const f = await fixture({
      users: {
        authenticate() {
          throw outage
        },
      },
    })
    const form = { grant_type: 'password', username: 'a', password: 'b', scope: 'api1' }
    const response = await f.post('token', form, web)
    expect([response.status, response.body]).toEqual([500, { error: 'server_error' }])
    expect(ofType(f, 'unhandled_failure')).toEqual([
      expect.objectContaining({ reason: 'unhandled_failure', cause, endpoint: 'token', clientId: 'web' }),
    ])
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 500, error: 'server_error' })
  })

  test('10.11 a CORS lookup that throws costs only the header', async () => {
    const f = await fixture({
      clients: {
        find: () => undefined,
        isOriginAllowed() {
          throw outage
        },
      },
    })
    const response = await f.get('userinfo', {}, { origin: 'https://web.example.com' })
    expect(response.status).toBe(401)
    expect(response.headers.has('access-control-allow-origin')).toBe(false)
    expect(ofType(f, 'unhandled_failure')).toEqual([
      expect.objectContaining({ reason: 'cors_lookup_failed', cause, endpoint: 'userinfo' }),
    ])
  })

  test('10.11 a refusal is not a failure', async () => {
    const f = await fixture()
    await f.post('token', forClient, ['web', 'x'])
    await f.get('userinfo')
    expect(ofType(f, 'unhandled_failure')).toEqual([])
  })
})

describe('skipped values', () => {
  test('a foreign record counts as absent and is reported with its kind', async () => {
    const items = new Map<string, string>()
    const f = await fixture({ storage: mapDriver(items) })
    const token = (await f.post('token', forClient, web)).body.access_token
    const [key = ''] = [...items.keys()].filter((name) => name.startsWith('access:'))
    const complete = JSON.parse(items.get(key) ?? '')
    const damaged = [
      'torn {',
      '""',
      'null',
      JSON.stringify({ ...complete, version: 2 }),
      JSON.stringify({ ...complete, value: { claims: 'none' } }),
    ]
    for (const [index, record] of damaged.entries()) {
      items.set(key, record)
      expect((await f.post('accessTokenValidation', { token })).status).toBe(400)
      expect(ofType(f, 'record_rejected')).toHaveLength(index + 1)
    }
    expect(ofType(f, 'record_rejected')[0]).toMatchObject({ kind: 'access', time: f.clock.now() })
    items.set(key, JSON.stringify(complete))
    expect((await f.post('accessTokenValidation', { token })).status).toBe(200)
  })

  test('a malformed secret of a client store is reported when its owner authenticates', async () => {
    const secrets = [{ sha256: 'malformed' }, { sha256: sha256Of(web[1]) }]
    const rows = clients.map((client) => (client.clientId === 'web' ? { ...client, secrets } : client))
    const f = await fixture({ clients: { find: (id) => rows.find(({ clientId }) => clientId === id) } })
    expect(ofType(f, 'secret_skipped')).toEqual([])
    expect((await f.post('token', forClient, web)).status).toBe(200)
    expect(ofType(f, 'secret_skipped')).toMatchObject([{ owner: 'client web', endpoint: 'token' }])
  })

  test('a warning at start has no endpoint and no client', async () => {
    const app = { clientId: 'app', redirectUris: ['http://app.example.com/callback'] }
    const f = await fixture({ clients: [app] })
    expect(f.events).toEqual([
      {
        type: 'startup_warning',
        reason: 'redirect_without_tls',
        message: expect.stringContaining('use https'),
        id: expect.any(String),
        requestId: expect.any(String),
        time: f.clock.now(),
      },
    ])
  })
})
