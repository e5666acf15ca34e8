import { defineClientAuthentication, definePlugin } from '@grantry/core'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { basic, createTestProvider, read } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import {
  common,
  echo,
  grantType,
  lastReason,
  secrets,
  seen,
  send,
  setUp,
  stampMethod,
  stamps,
  verified,
} from './stamp-method.ts'

describe('an authentication method of a plugin', () => {
  test('authenticates a client without a secret', async () => {
    const f = await setUp()
    expect((await send(f, { stamp: 'STAMPED-1' })).status).toBe(200)
    expect(f.events).toContainEqual(
      expect.objectContaining({ type: 'client_authentication_succeeded', method: 'stamp', clientId: 'stamped' }),
    )
    const methods = ['client_secret_basic', 'client_secret_post', 'stamp']
    expect(f.provider.metadata).toMatchObject({
      token_endpoint_auth_methods_supported: methods,
      revocation_endpoint_auth_methods_supported: methods,
      introspection_endpoint_auth_methods_supported: methods.slice(0, 2),
    })
  })

  test('has the records of its plugin', async () => {
    const f = await setUp()
    expect((await send(f, { stamp: 'STAMPED-1' })).status).toBe(200)
    expect((await send(f, { stamp: 'STAMPED-1' })).status).toBe(401)
    expect(lastReason(f)).toBe('plugin:stamps:stamp_used')
  })

  test('hides the fields that it reads from grants and checks', async () => {
    const f = await setUp()
    await send(f, { stamp: 'STAMPED-1', stamp_type: 'a', badge: '7' })
    expect(seen).toEqual([{ badge: '7' }, null, { badge: '7' }])
    // Also if the request uses another method.
    await send(f, { badge: '8' }, { authorization: basic(['web', 'web-secret']) })
    expect(seen.slice(3)).toEqual([{ badge: '8' }, null, { badge: '8' }])
  })

  test('is not part of the identity of a retry: every request has other credentials', async () => {
    const f = await setUp()
    const { body } = await send(f, { stamp: 'STAMPED-1', scope: 'api1 offline_access' })
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token, scope: '' }
    const first = await send(f, { ...refresh, stamp: 'STAMPED-2' })
    const retried = await send(f, { ...refresh, stamp: 'STAMPED-3' })
    expect(first.status).toBe(200)
    expect(retried.body.refresh_token).toBe(first.body.refresh_token)
    expect(f.events.some(({ type }) => type === 'refresh_reused')).toBe(false)
  })

  test.each([
    ['an unknown client', 'ABSENT-1', 'client_unknown', [undefined]],
    ['a disabled client', 'STAMPED-DISABLED-1', 'client_disabled', ['stamped-disabled']],
    ['a client that it does not accept', 'WEB-1', 'method_not_accepted', ['web']],
    ['credentials that are wrong', 'stamped-1', 'plugin:stamps:wrong_stamp', ['stamped']],
    ['a malformed outcome', 'ODD-1', 'client_unknown', [undefined]],
    ['an error with another description', 'THROWN-1', 'plugin:stamps:thrown', [undefined]],
    ['an id that is too long', `${'A'.repeat(101)}-1`, 'credentials_impossible', []],
  ])('refuses %s with the same 401', async (_, stamp, reason, calls) => {
    const f = await setUp()
    const { status, body, headers } = await send(f, { stamp })
    expect([status, lastReason(f), verified]).toEqual([401, reason, calls])
    expect(body).toEqual({ error: 'invalid_client', error_description: 'Client authentication failed' })
    expect(headers.get('www-authenticate')).toBe('Basic realm="https://id.example.com"')
  })

  test.each([
    ['nothing', undefined],
    ['a reason that could be a secret', { reason: 'unknown stamp STAMPED-1' }],
  ])('is refused for a malformed outcome about a known client: %s', async (_, outcome) => {
    const odd = { ...stampMethod, verify: () => outcome as { readonly reason: string } }
    const f = await setUp(definePlugin('odd', [odd]))
    expect((await send(f, { stamp: 'STAMPED-1' })).status).toBe(401)
    expect(lastReason(f)).toBe('plugin:odd:refused')
  })

  test('does not look up a client for malformed credentials', async () => {
    const f = await setUp()
    expect((await send(f, { stamp: 'STAMPED-1', stamp_type: 'x' })).status).toBe(401)
    expect([lastReason(f), verified]).toEqual(['plugin:stamps:stamp_type', []])
  })

  test('is a server_error if it throws', async () => {
    const f = await setUp()
    expect((await send(f, { stamp: 'BROKEN-1' })).body).toEqual({ error: 'server_error' })
  })

  test('counts failures for the limits', async () => {
    const limit = { failures: 3, window: 60 }
    const f = await createTestProvider({
      plugins: [echo, stamps],
      clients: [{ ...common, clientId: 'stamped', grantTypes: [grantType] }],
      abuseControl: { credentials: { perAddress: limit, perClientAndAddress: limit } },
    })
    const statuses: number[] = []
    for (const stamp of ['stamped-1', 'stamped-2', 'stamped-3', 'stamped-4', 'STAMPED-5']) {
      statuses.push((await send(f, { stamp })).status)
    }
    expect(statuses.slice(0, 2)).toEqual([401, 401])
    // A right proof too, as long as the limit is exceeded.
    expect(statuses.slice(-1)).toEqual([429])
  })
})

// RFC 6749 section 2.3: a request must not use more than one method.
describe('a request with two methods', () => {
  const header = { authorization: basic(['web', 'web-secret']) }
  test.each([
    ['Basic and a stamp', { stamp: 'STAMPED-1' }, header],
    ['Basic and another field of the plugin', { stamp_type: 'a' }, header],
    ['a secret in the form and a stamp', { stamp: 'STAMPED-1', client_id: 'stamped', client_secret: 'x' }, {}],
    ['a client_secret alone and a stamp', { stamp: 'STAMPED-1', client_secret: 'x' }, {}],
    ['a client_id and another field of the plugin', { client_id: 'web', stamp_type: 'a' }, {}],
  ])('is refused: %s', async (_, form, headers) => {
    const f = await setUp()
    const { status, body } = await send(f, form, headers)
    expect([status, body.error, lastReason(f)]).toEqual([400, 'invalid_request', 'several_credentials'])
    expect(seen).toEqual([])
  })

  test('is refused if the client_id differs; the same one is accepted', async () => {
    const f = await setUp()
    const { status, body } = await send(f, { stamp: 'STAMPED-1', client_id: 'web' })
    expect([status, body.error, lastReason(f)]).toEqual([400, 'invalid_request', 'client_id_mismatch'])
    expect((await send(f, { stamp: 'STAMPED-1', client_id: 'stamped' })).status).toBe(200)
  })

  test('is refused if no method in use reads the Authorization header', async () => {
    const f = await setUp()
    expect((await send(f, { stamp: 'STAMPED-1' }, { authorization: 'Digest x' })).status).toBe(401)
    expect(lastReason(f)).toBe('malformed_authorization')
  })
})

describe('a method with a secret', () => {
  const keyMethod = defineClientAuthentication({
    method: 'api_key',
    consumes: [],
    readsAuthorization: true,
    present(_, request) {
      const [scheme, clientId, secret] = request.header('authorization')?.split(' ') ?? []
      return scheme === 'Key' && clientId && secret ? { clientId, secret } : undefined
    },
  })

  test('reads its own scheme, and the core verifies the secret, of clients and scopes', async () => {
    const f = await createTestProvider({
      plugins: [echo, refreshToken(), definePlugin('keys', [keyMethod])],
      clients: [{ ...common, clientId: 'web', secrets }],
      scopes: [{ name: 'api1', secrets }],
    })
    const granted = await send(f, {}, { authorization: 'Key web web-secret' })
    expect(granted.status).toBe(200)
    expect((await send(f, {}, { authorization: 'Key web wrong' })).status).toBe(401)
    expect(lastReason(f)).toBe('secret_mismatch')
    expect((await send(f, {}, { authorization: basic(['web', 'web-secret']) })).status).toBe(200)
    const introspect = async (authorization: string) => {
      const body = new URLSearchParams({ token: granted.body.access_token })
      const init = { method: 'POST', body, headers: { authorization } }
      return read(await f.provider.handlers.introspection(new Request('https://id.example.com/i', init)))
    }
    expect((await introspect('Key api1 web-secret')).body.active).toBe(true)
    expect((await introspect('Key api1 wrong')).status).toBe(401)
    expect(f.provider.metadata.introspection_endpoint_auth_methods_supported).toContain('api_key')
  })

  test('does not authenticate a scope by the proof of a plugin', async () => {
    const f = await setUp()
    const { status } = await f.post('introspection', { token: 'x', stamp: 'STAMPED-1', client_id: 'stamped' })
    expect([status, verified]).toEqual([401, []])
  })
})
