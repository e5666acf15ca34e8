import { createProvider, type ProviderOptions } from '@grantry/core'
import { basic, mapDriver } from '@grantry/testing'
import { exportJWK, generateKeyPair } from 'jose'
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest'
import { builtInPlugins, clients, scopes, testUsers, web } from '../support/fixture.ts'

const { privateKey } = await generateKeyPair('EdDSA', { extractable: true })
const keys = [await exportJWK(privateKey)]

let errors: MockInstance<typeof console.error>
beforeEach(() => {
  errors = vi.spyOn(console, 'error').mockImplementation(() => {})
})
afterEach(() => errors.mockRestore())

/** The output; each call is one line. */
const lines = (): readonly unknown[] => errors.mock.calls.flat()

/** Without the test provider, which observes by itself. */
const start = (options: Partial<ProviderOptions> = {}) =>
  createProvider({
    issuer: 'https://id.example.com',
    keys,
    storage: mapDriver(),
    clients,
    scopes,
    users: testUsers().service,
    plugins: builtInPlugins,
    ...options,
  })

const login = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }

async function post(options: Partial<ProviderOptions>, form: Record<string, string> = login) {
  const provider = await start(options)
  errors.mockClear()
  const headers = { authorization: basic(web) }
  const request = new Request('https://id.example.com/x', { method: 'POST', body: new URLSearchParams(form), headers })
  return provider.handlers.token(request)
}

const failing = (thrown: unknown): Partial<ProviderOptions> => ({
  users: {
    authenticate() {
      throw thrown
    },
  },
})

describe('without an observer', () => {
  test('10.22 a failure is one line on console.error, with its location', async () => {
    expect((await post(failing(new TypeError('no such table:\n users')))).status).toBe(500)
    expect(lines()).toEqual([
      expect.stringMatching(
        /^grantry error: unhandled_failure \(token\): TypeError: no such table: users \(at .*without-observer\.test\.ts.*\)$/u,
      ),
    ])
  })

  test('10.22 a storage outage includes the message of the storage', async () => {
    const good = mapDriver()
    let fails = false
    const storage = {
      ...good,
      setItem(key: string, value: string, options: { ttl: number }) {
        if (fails) throw new Error('connect ECONNREFUSED')
        return good.setItem(key, value, options)
      },
    }
    const provider = await start({ storage })
    fails = true
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'api1' })
    const headers = { authorization: basic(web) }
    const request = new Request('https://id.example.com/x', { method: 'POST', body, headers })
    expect((await provider.handlers.token(request)).status).toBe(503)
    expect(lines()).toEqual([
      expect.stringMatching(/^grantry error: storage_failed \(token\): Error: connect ECONNREFUSED/u),
    ])
  })

  test('10.22 a host function that hangs is named', async () => {
    const users = { authenticate: () => new Promise<never>(() => {}) }
    expect((await post({ users, hostTimeLimit: 0.05 })).status).toBe(503)
    expect(lines()).toEqual([
      expect.stringMatching(
        /^grantry error: host_port_timed_out \(token, users\.authenticate\): Error: users\.authenticate\(\) did not/u,
      ),
    ])
  })

  test('10.22 a warning at start is one line', async () => {
    await start({ clients: [{ clientId: 'app', redirectUris: ['http://app.example.com/callback'] }] })
    expect(lines()).toEqual([
      expect.stringMatching(
        /^grantry warning: http:\/\/app\.example\.com\/callback of app is http: .* \[redirect_without_tls\]$/u,
      ),
    ])
  })

  test('10.22 a skipped stored secret is one line without the secret', async () => {
    const secrets = [{ sha256: 'plain-text-secret' }, ...(clients[0]?.secrets ?? [])]
    const find = () => ({ ...clients[0], clientId: 'web', secrets })
    expect((await post({ clients: { find } })).status).toBe(200)
    expect(lines()).toEqual(['grantry warning: a stored secret of client web is not a hash and was skipped'])
  })

  // A developer has no other sign of what is wrong with a request. Such an issuer can only be on this machine.
  test('10.22 a refusal is one line if the issuer is http, without a secret of the request', async () => {
    const issuer = 'http://127.0.0.1:8484'
    expect((await post({ issuer }, { ...login, password: 'wrong-password' })).status).toBe(400)
    expect(lines()).toEqual([
      'grantry refused: plugin:password:wrong_credentials (token, client web): invalid_grant, The user name or password is not valid',
    ])
    expect((await post({ issuer })).status).toBe(200)
    expect(lines()).toEqual([])
  })

  test('10.22 a refusal because of a setting of the client has the setting', async () => {
    const issuer = 'http://127.0.0.1:8484'
    const refreshing = [{ ...clients[0], clientId: 'web', grantTypes: ['refresh_token'], scopes: ['openid', 'api1'] }]
    expect((await post({ issuer, clients: refreshing as typeof clients })).status).toBe(400)
    expect(lines()).toEqual([
      'grantry refused: grant_type_not_allowed (token, client web): unauthorized_client, The client is not allowed to use this grant type, allowed: refresh_token openid api1',
    ])
  })

  test('10.22 writes nothing else, and no line break or control character of a foreign text', async () => {
    expect((await post({}, { ...login, password: 'wrong-password' })).status).toBe(400)
    expect((await post({})).status).toBe(200)
    expect(lines()).toEqual([])
    await post(failing(new Error('one\r\n{"level":"info"}\u001B[31m\u009B2J\u202Etwo')))
    expect(lines()).toEqual([expect.stringMatching(/Error: one \{"level":"info"\} \[31m 2J two \(at /u)])
  })

  test('10.22 a console that throws has no effect', async () => {
    errors.mockImplementation(() => {
      throw new Error('no console here')
    })
    expect((await post(failing(new Error('x')))).status).toBe(500)
  })

  test('10.22 omits properties that a library adds to its error', async () => {
    await post(failing(Object.assign(new Error('401'), { config: { headers: { authorization: 'Bearer the-token' } } })))
    expect(String(lines())).not.toContain('the-token')
  })
})

test('10.22 with an observer, writes nothing to console.error', async () => {
  const types: string[] = []
  const observe: ProviderOptions['observe'] = ({ type }) => types.push(type)
  expect((await post({ ...failing(new Error('x')), observe })).status).toBe(500)
  expect(types).toEqual(expect.arrayContaining(['unhandled_failure', 'endpoint_failed']))
  expect(errors).not.toHaveBeenCalled()
})
