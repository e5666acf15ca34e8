/**
 * Attack (or an outage): a host function hangs, and twenty requests that wait for it take every slot of the server, so
 * that even the JWKS returns 503. Each function has its own time limit and limit on concurrent calls.
 *
 * Wire contract, section 1: 503 `temporarily_unavailable` with `Retry-After`.
 */
import { generateKeyPairSync, sign } from 'node:crypto'
import { type RunningServer, serve } from '@grantry/adapters/node'
import { type ClientOptions, type ClientStore, type ProviderOptions, type UserService, webRuntime } from '@grantry/core'
import { basic, type TestResponse } from '@grantry/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { clients, type Fixture, fixture, scopes, testUsers, web, webJwt } from '../support/fixture.ts'

const login = (username = 'alice') => ({
  grant_type: 'password',
  username,
  password: `${username}-password`,
  scope: 'openid profile api1',
})
const forClient = { grant_type: 'client_credentials', scope: 'api1' }
const find = (clientId: string): ClientOptions | undefined => clients.find((client) => client.clientId === clientId)

/** Users and a client store; the function that `hanging` names hangs. `settle` ends these calls. */
function host(hanging = '') {
  const { service } = testUsers()
  const state = { hanging, calls: 0 }
  const pending: (() => void)[] = []
  const port =
    <A extends readonly unknown[], R>(name: string, method: (...parameters: A) => R) =>
    (...parameters: A): R =>
      state.hanging === name
        ? (new Promise((resolve) => {
            state.calls += 1
            pending.push(() => resolve(undefined))
          }) as R)
        : method(...parameters)
  const users: UserService = {
    authenticate: port('users.authenticate', (credentials) => service.authenticate?.(credentials)),
    isActive: port('users.isActive', (sub) => service.isActive?.(sub) ?? false),
    claims: port('users.claims', (sub, names) => service.claims?.(sub, names) ?? {}),
  }
  const store: ClientStore = {
    find: port('clients.find', find),
    verifySecret: port('clients.verifySecret', (_, secret) => secret === 'web-secret'),
    isOriginAllowed: port('clients.isOriginAllowed', () => true),
  }
  const options: Partial<ProviderOptions> = { users, clients: store }
  const settle = (): void => {
    for (const resolve of pending.splice(0)) resolve()
  }
  return { state, options, settle }
}

const brief = ({ status, headers, body }: TestResponse) => [status, body.error, headers.get('retry-after')]
const refused = [503, 'temporarily_unavailable', '1']

const failures = ({ events }: Fixture) => events.filter(({ type }) => type === 'unhandled_failure')

/** Resolves when everything that does not hang has happened. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a host function that hangs', () => {
  test.each([
    ['users.authenticate', (f: Fixture) => f.post('token', login(), web)],
    ['users.isActive', (f: Fixture) => f.post('token', login(), web)],
    ['users.claims', (f: Fixture, token: string) => f.get('userinfo', {}, { authorization: `Bearer ${token}` })],
    ['clients.find', (f: Fixture) => f.post('token', forClient, web)],
    ['clients.verifySecret', (f: Fixture) => f.post('token', forClient, web)],
  ])('1.50 %s: 503 at the time limit, and an event names it', async (port, request) => {
    const { state, options } = host()
    const f = await fixture({ ...options, hostTimeLimit: 0.05 })
    const { access_token: token } = (await f.post('token', login(), web)).body
    state.hanging = port
    expect(brief(await request(f, token))).toEqual(refused)
    expect(failures(f)).toMatchObject([
      { reason: 'host_port_timed_out', port, cause: { message: `${port}() did not respond within 0.05 s` } },
    ])
    expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 503, reason: 'host_port_timed_out' })
    state.hanging = ''
    expect((await request(f, token)).status).toBe(200)
  })

  test('1.50 clients.isOriginAllowed costs only the CORS headers', async () => {
    const { options } = host('clients.isOriginAllowed')
    const f = await fixture({ ...options, hostTimeLimit: 0.05 })
    const { status, headers } = await f.get('userinfo', {}, { origin: 'https://web.example.com' })
    expect([status, headers.get('access-control-allow-origin')]).toEqual([401, null])
    expect(failures(f)).toMatchObject([{ reason: 'cors_lookup_failed', port: 'clients.isOriginAllowed' }])
  })

  test('1.50 a failure after the time limit leaves no unhandled rejection', async () => {
    const unhandled: unknown[] = []
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', onUnhandled)
    try {
      let fail: (error: Error) => void = () => {}
      const authenticate = () => new Promise<undefined>((_, reject) => (fail = reject))
      const f = await fixture({ users: { authenticate }, hostTimeLimit: 0.05 })
      expect(brief(await f.post('token', login(), web))).toEqual(refused)
      fail(new Error('connection lost'))
      await turn()
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', onUnhandled)
    }
  })

  test('1.50 a host that responds synchronously costs no timer', async () => {
    const { options } = host()
    const f = await fixture(options)
    const timers = vi.spyOn(globalThis, 'setTimeout')
    expect((await f.post('token', login(), web)).status).toBe(200)
    expect(timers).not.toHaveBeenCalled()
    timers.mockRestore()
  })
})

describe('the limit on concurrent calls', () => {
  const bound = { maxHostCalls: 2, hostTimeLimit: 60 }
  const someone = (f: Fixture, index: number) => f.post('token', login(`user-${index}`), web)

  test('1.51 the next call is 503 immediately, and an event names the function', async () => {
    const { state, options, settle } = host('users.isActive')
    const f = await fixture({ ...options, ...bound })
    const held = [f.post('token', login(), web), f.post('token', login('bob'), web)]
    await turn()
    expect(brief(await f.post('token', login(), web))).toEqual(refused)
    const message = '2 calls to users.isActive() are in flight'
    expect(failures(f)).toMatchObject([{ reason: 'host_port_busy', port: 'users.isActive', cause: { message } }])
    expect(state.calls).toBe(2)
    settle()
    await Promise.all(held)
    state.hanging = ''
    expect((await f.post('token', login(), web)).status).toBe(200)
  })

  test('1.51 a call that hangs keeps its slot after its request was refused, until it settles', async () => {
    const { state, options, settle } = host('users.authenticate')
    const f = await fixture({ ...options, maxHostCalls: 2, hostTimeLimit: 0.05 })
    const first = await Promise.all([someone(f, 1), someone(f, 2)])
    expect(first.map(brief)).toEqual([refused, refused])
    expect(brief(await someone(f, 3))).toEqual(refused)
    expect(failures(f).at(-1)).toMatchObject({ reason: 'host_port_busy', port: 'users.authenticate' })
    expect(state.calls).toBe(2)
    settle()
    await turn()
    state.hanging = ''
    expect((await f.post('token', login(), web)).status).toBe(200)
  })

  test('1.51 a call whose promise is lost releases its slot after sixty time limits', async () => {
    const { state, options } = host('users.authenticate')
    let ahead = 0
    const runtime = { elapsed: () => webRuntime.elapsed() + ahead }
    const f = await fixture({ ...options, maxHostCalls: 1, hostTimeLimit: 0.05, runtime })
    await someone(f, 1)
    state.hanging = ''
    expect(brief(await someone(f, 2))).toEqual(refused)
    ahead = 3000
    expect((await f.post('token', login(), web)).status).toBe(200)
  })

  test('1.51 at most twice as many logins wait for an earlier one of the same user', async () => {
    const { state, options, settle } = host('users.authenticate')
    const passwords = { perUserAndAddress: { failures: 1 }, perUser: { failures: 1 } }
    const f = await fixture({ ...options, maxHostCalls: 1, hostTimeLimit: 60, abuseControl: { passwords } })
    const responses: TestResponse[] = []
    const logins = Array.from({ length: 3 }, () =>
      f.post('token', login(), web).then((response) => responses.push(response)),
    )
    await eventually(() => expect(responses.map(brief)).toEqual([refused]))
    expect(failures(f)).toMatchObject([{ reason: 'host_port_busy', port: 'users.authenticate' }])
    state.hanging = ''
    settle()
    await Promise.all(logins)
    expect(responses.slice(1).map(({ status }) => status)).not.toContain(503)
  })

  test('1.51 an external signer has the same limit', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    let hangs = false
    let calls = 0
    const key = {
      publicKey: publicKey.export({ format: 'jwk' }) as Record<string, string>,
      timeLimit: 60,
      sign(data: Uint8Array) {
        if (!hangs) return sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' })
        calls += 1
        return new Promise<never>(() => {})
      },
    }
    const f = await fixture({ keys: [key as never] })
    hangs = true
    for (let index = 0; index < 128; index += 1) void f.post('token', forClient, webJwt)
    await turn()
    expect(brief(await f.post('token', forClient, webJwt))).toEqual(refused)
    expect(calls).toBe(128)
    expect(failures(f)).toMatchObject([{ reason: 'signer_failed', port: 'keys.sign' }])
  })

  test('1.51 by default, hanging logins take far fewer than the 1,000 slots of the server', async () => {
    const { options } = host('users.authenticate')
    const f = await fixture({ ...options, hostTimeLimit: 60 })
    const responses: TestResponse[] = []
    for (let index = 0; index < 1000; index += 1) void someone(f, index).then((response) => responses.push(response))
    await turn()
    await eventually(() => expect(responses).toHaveLength(872))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]))
  })
})

describe('a server on Node.js whose logins all hang still serves', () => {
  let running: RunningServer | undefined
  afterEach(async () => {
    await running?.close(0)
    running = undefined
  })

  test('1.51 JWKS, discovery, and client-only tokens', async () => {
    const { state, options, settle } = host('users.authenticate')
    const f = await fixture({ ...options, scopes, maxHostCalls: 10, hostTimeLimit: 60 })
    running = await serve(f.provider, { maxRequests: 20 })
    const { port } = running
    const send = (path: string, form?: Record<string, string>) =>
      fetch(
        `http://127.0.0.1:${port}${path}`,
        form && { method: 'POST', body: new URLSearchParams(form), headers: { authorization: basic(web) } },
      )
    const answered: number[] = []
    const logins = Array.from({ length: 40 }, async (_, index) => {
      const { status } = await send('/connect/token', login(`user-${index}`))
      answered.push(status)
    })
    // Requests beyond the limit have been refused, and hold no slot.
    await eventually(() => expect(answered).toHaveLength(30))
    expect(state.calls).toBe(10)
    expect((await send('/.well-known/jwks')).status).toBe(200)
    expect((await send('/.well-known/openid-configuration')).status).toBe(200)
    expect((await send('/connect/token', forClient)).status).toBe(200)
    settle()
    await Promise.all(logins)
    expect(answered.filter((status) => status === 503)).toHaveLength(30)
    expect(answered.filter((status) => status === 400)).toHaveLength(10)
  })
})
