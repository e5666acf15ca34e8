import {
  type ClientOptions,
  defineClientAuthentication,
  defineGrant,
  defineGrantCheck,
  definePlugin,
  OAuthError,
} from '@grantry/core'
import { basic, createTestProvider, read, sha256Of } from '@grantry/core/testing'
import { refreshToken } from '@grantry/plugins/refresh-token'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'

const grantType = 'urn:example:echo'
const secrets = [{ sha256: sha256Of('web-secret') }]
const common = { grantTypes: [grantType, 'refresh_token'], scopes: ['api1', 'offline_access'] }

const clients: readonly ClientOptions[] = [
  { ...common, clientId: 'web', secrets },
  { ...common, clientId: 'stamped' },
  { ...common, clientId: 'stamped-disabled', enabled: false },
]

const seen: unknown[] = []
const anyParameter = v.looseObject({})

const echo = definePlugin('echo', [
  defineGrant({
    grantType,
    params: anyParameter,
    handle({ params, scopes, request }) {
      seen.push(params, request.header('authorization'))
      return { scopes, subject: { sub: '1', amr: ['pwd'] } }
    },
  }),
  defineGrantCheck({
    settles: 'proof_key',
    grantTypes: [grantType],
    params: anyParameter,
    check: ({ params }) => void seen.push(params),
  }),
])

const verified: unknown[] = []

/** A stamp is the client id in capitals, with a number that differs for each request: `WEB-1`. */
const stampMethod = defineClientAuthentication({
  method: 'stamp',
  consumes: ['stamp', 'stamp_type'],
  present({ stamp, stamp_type }) {
    if (stamp === undefined) return undefined
    const [text = '', number = ''] = stamp.split(/-(?=\d+$)/u)
    return { clientId: text.toLowerCase(), text, number, malformed: stamp_type === 'x' ? 'stamp_type' : undefined }
  },
  accepts: ({ clientId }) => clientId.startsWith('stamped'),
  async verify({ text, number }, client, kit) {
    verified.push(client?.clientId)
    if (text === 'THROWN') throw new OAuthError('invalid_client', 'A detail', { reason: 'plugin:stamps:thrown' })
    if (text === 'BROKEN') throw new Error('broken')
    if (text === 'ODD') return { reason: 1 } as unknown as { readonly reason: string }
    if (text !== client?.clientId.toUpperCase()) return { reason: 'wrong_stamp' }
    return (await kit.records.insert(`${text} ${number}`, true, kit.now() + 60)) || { reason: 'stamp_used' }
  },
})

const stamps = definePlugin('stamps', [stampMethod])

const setUp = (plugins: Parameters<typeof createTestProvider>[0]['plugins'] = [stamps]) => {
  seen.length = 0
  verified.length = 0
  return createTestProvider({ plugins: [echo, refreshToken(), plugins], clients })
}
type Provider = Awaited<ReturnType<typeof setUp>>

const send = async (f: Provider, form: Record<string, string>, headers: Record<string, string> = {}) => {
  const body = new URLSearchParams({ grant_type: grantType, scope: 'api1', ...form })
  const request = new Request('https://id.example.com/connect/token', { method: 'POST', body, headers })
  return read(await f.provider.handlers.token(request, { clientAddress: '192.0.2.1' }))
}

const lastReason = (f: Provider): unknown =>
  f.events.flatMap((event) => (event.type === 'client_authentication_failed' ? [event.reason] : [])).at(-1)

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

  test('is refused for a malformed outcome about a known client', async () => {
    const odd = { ...stampMethod, verify: () => undefined as unknown as true }
    const f = await setUp(definePlugin('odd', [odd]))
    expect((await send(f, { stamp: 'STAMPED-1' })).status).toBe(401)
    expect(lastReason(f)).toBe('plugin:odd:refused')
  })

  test('does not look up a client for malformed credentials', async () => {
    const f = await setUp()
    expect((await send(f, { stamp: 'STAMPED-1', stamp_type: 'x' })).status).toBe(401)
    expect([lastReason(f), verified]).toEqual(['stamp_type', []])
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

describe('at startup', () => {
  const start = (...parts: Parameters<typeof definePlugin>[1]) => setUp(definePlugin('other', parts))
  const refusal = (message: string) => ({ name: 'TypeError', message: expect.stringContaining(message) })

  test.each([
    [
      'a method of another plugin',
      [stamps, definePlugin('other', [stampMethod])],
      'plugins: stamps and other both provide the authentication method stamp; remove one of them',
    ],
    [
      'a built-in method',
      [definePlugin('other', [{ ...stampMethod, method: 'none' }])],
      'plugins: core and other both provide the authentication method none; remove one of them',
    ],
  ])('rejects %s, and names both plugins', async (_, plugins, message) => {
    await expect(setUp(plugins)).rejects.toMatchObject(refusal(message))
  })

  test('rejects a malformed method', async () => {
    const malformed = { ...stampMethod, method: 'Two Words' }
    await expect(start(malformed)).rejects.toMatchObject(refusal('invalid name "Two Words"'))
    const unproven = { ...stampMethod, accepts: undefined } as unknown as typeof stampMethod
    await expect(start(unproven)).rejects.toMatchObject(refusal('both verify() and accepts(), or neither'))
    const greedy = { ...stampMethod, consumes: ['scope'] }
    await expect(start(greedy)).rejects.toMatchObject(refusal('cannot consume scope, because the core reads it'))
    const mute = { ...stampMethod, present: undefined } as unknown as typeof stampMethod
    await expect(start(mute)).rejects.toMatchObject(refusal('requires present() and consumes'))
  })

  test('rejects a grant that declares a field of a method', async () => {
    const params = v.object({ stamp: v.string() })
    const grant = defineGrant({ grantType: 'urn:example:stamp', params, handle: ({ scopes }) => ({ scopes }) })
    const message =
      'plugins: the grant urn:example:stamp cannot have stamp in params, because stamps reads it; remove it'
    await expect(setUp([stamps, grant])).rejects.toMatchObject(refusal(message))
  })

  test('rejects a client that no method accepts', async () => {
    const message = 'clients: stamped has no usable secret; add one, or set public: true'
    await expect(setUp([])).rejects.toMatchObject({ message })
    const strict = definePlugin('stamps', [{ ...stampMethod, accepts: () => false }])
    await expect(setUp(strict)).rejects.toMatchObject({ message: `${message}, or configure it for stamp` })
  })
})

describe('tokenEndpointAuthMethod', () => {
  const pinned = (method: string, more: Partial<ClientOptions> = {}) =>
    createTestProvider({
      plugins: [echo, refreshToken(), stamps],
      clients: [{ ...common, clientId: 'stamped', secrets, tokenEndpointAuthMethod: method, ...more }],
    })
  const header = { authorization: basic(['stamped', 'web-secret']) }

  test('refuses every other method, although the client could use it', async () => {
    const onlyStamp = await pinned('stamp')
    expect((await send(onlyStamp, { stamp: 'STAMPED-1' })).status).toBe(200)
    expect((await send(onlyStamp, {}, header)).status).toBe(401)
    expect(lastReason(onlyStamp)).toBe('method_not_allowed_for_client')
    const onlyBasic = await pinned('client_secret_basic')
    expect((await send(onlyBasic, {}, header)).status).toBe(200)
    expect((await send(onlyBasic, { client_id: 'stamped', client_secret: 'web-secret' })).status).toBe(401)
    expect((await send(onlyBasic, { stamp: 'STAMPED-2' })).status).toBe(401)
    expect(lastReason(onlyBasic)).toBe('method_not_allowed_for_client')
  })

  test('must be a method that the client can use', async () => {
    await expect(pinned('private_key_jwt')).rejects.toMatchObject({
      message:
        'clients: stamped has tokenEndpointAuthMethod private_key_jwt, which no plugin provides; known methods: client_secret_basic, client_secret_post, none, stamp',
    })
    await expect(pinned('client_secret_post', { secrets: [] })).rejects.toMatchObject({
      message: 'clients: stamped has tokenEndpointAuthMethod client_secret_post, but is not configured for it',
    })
  })
})
