import type { AtomicDriver } from '@grantry/core'
import { type Answer, mapDriver } from '@grantry/core/testing'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web, webJwt } from '../support/fixture.ts'

type Operation = 'getItem' | 'setItem' | 'insertItem'
type Outage = 'throws' | 'rejects' | 'returns an error'

/** A driver that fails in these operations while the switch is on. */
function failingDriver(operations: readonly Operation[], outage: Outage): { driver: AtomicDriver; down: boolean } {
  const driver = mapDriver()
  const state = { driver, down: false }
  const fail = (): never => {
    const error = new Error('ECONNREFUSED redis://:hunter2@10.0.0.1')
    if (outage === 'rejects') return Promise.reject(error) as never
    if (outage === 'returns an error') return error as never
    throw error
  }
  state.driver = {
    name: 'failing',
    getItem: (key) => (state.down && operations.includes('getItem') ? fail() : driver.getItem(key)),
    setItem: (key, value, options) =>
      state.down && operations.includes('setItem') ? fail() : driver.setItem?.(key, value, options),
    removeItem: (key, options) => driver.removeItem?.(key, options),
    insertItem: (key, value, options) =>
      state.down && operations.includes('insertItem') ? fail() : driver.insertItem(key, value, options),
  }
  return state
}

function expectUnavailable({ status, body, headers }: Answer, f: Fixture): void {
  expect(status).toBe(503)
  expect(body).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) })
  expect(JSON.stringify(body)).not.toContain('hunter2')
  expect(headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/u)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('www-authenticate')).toBeNull()
  expect(f.events.at(-1)).toMatchObject({ type: 'endpoint_failed', status: 503, reason: 'storage_failed' })
  const failure = f.events.find((event) => event.type === 'unhandled_failure')
  expect(failure).toMatchObject({
    reason: 'storage_failed',
    cause: { message: expect.stringContaining('ECONNREFUSED') },
  })
}

const passwordForm = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }
const clientForm = { grant_type: 'client_credentials', scope: 'api1' }

describe('a storage that is out of reach', () => {
  test.each<[string, Operation, Outage]>([
    ['password', 'getItem', 'throws'],
    ['password', 'getItem', 'rejects'],
    ['password', 'getItem', 'returns an error'],
    ['password', 'setItem', 'throws'],
    ['client_credentials', 'setItem', 'throws'],
    ['client_credentials', 'setItem', 'rejects'],
    ['authorization_code', 'getItem', 'rejects'],
    ['authorization_code', 'getItem', 'returns an error'],
    ['authorization_code', 'setItem', 'rejects'],
    ['authorization_code', 'insertItem', 'throws'],
    ['authorization_code', 'insertItem', 'rejects'],
    ['refresh_token', 'getItem', 'throws'],
    ['refresh_token', 'setItem', 'rejects'],
    ['refresh_token', 'insertItem', 'rejects'],
  ])('1.21 the grant %s answers 503 when %s %s, and works again afterwards', async (grant, operation, outage) => {
    const storage = failingDriver([operation], outage)
    const f = await fixture({ storage: storage.driver })
    const codeForm = { grant_type: 'authorization_code', code: await f.code(), redirect_uri: redirectUri }
    const forms: Record<string, Record<string, string>> = {
      password: passwordForm,
      client_credentials: clientForm,
      authorization_code: codeForm,
    }
    if (grant === 'refresh_token') {
      const { body } = await f.post('token', codeForm, web)
      forms.refresh_token = { grant_type: grant, refresh_token: body.refresh_token }
    }
    const form = forms[grant] ?? {}
    storage.down = true
    expectUnavailable(await f.post('token', form, web), f)
    storage.down = false
    expect((await f.post('token', form, web)).status).toBe(200)
  })

  test.each<['userinfo' | 'introspection' | 'accessTokenValidation', Outage]>([
    ['userinfo', 'throws'],
    ['userinfo', 'returns an error'],
    ['introspection', 'rejects'],
    ['introspection', 'returns an error'],
    ['accessTokenValidation', 'throws'],
    ['accessTokenValidation', 'returns an error'],
  ])('1.21 at %s a token is neither valid nor invalid when getItem %s: 503', async (endpoint, outage) => {
    const storage = failingDriver(['getItem'], outage)
    const f = await fixture({ storage: storage.driver })
    const { body } = await f.post('token', { ...passwordForm, scope: 'openid api1' }, web)
    const token: string = body.access_token
    const ask = (): Promise<Answer> =>
      endpoint === 'userinfo'
        ? f.get('userinfo', {}, { authorization: `Bearer ${token}` })
        : f.post(endpoint, { token }, endpoint === 'introspection' ? api1 : undefined)
    storage.down = true
    expectUnavailable(await ask(), f)
    storage.down = false
    expect((await ask()).status).toBe(200)
  })

  test('1.21 a self-contained token of a family is not accepted while nobody can say whether it is revoked', async () => {
    const storage = failingDriver(['getItem'], 'rejects')
    const f = await fixture({ storage: storage.driver })
    const code = await f.code({ clientId: webJwt[0] })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const { body } = await f.post('token', form, webJwt)
    storage.down = true
    expectUnavailable(await f.post('accessTokenValidation', { token: body.access_token }), f)
  })

  test('1.21 a self-contained token is issued without storage; nobody can say whether it was revoked', async () => {
    const storage = failingDriver(['getItem', 'setItem', 'insertItem'], 'rejects')
    const f = await fixture({ storage: storage.driver })
    storage.down = true
    const { status, body } = await f.post('token', clientForm, webJwt)
    expect(status).toBe(200)
    expectUnavailable(await f.post('accessTokenValidation', { token: body.access_token }), f)
    expect((await f.get('discovery')).status).toBe(200)
    expect((await f.post('token', clientForm, ['web', 'wrong'])).status).toBe(401)
  })

  test('1.21 the readiness probe says so', async () => {
    const storage = failingDriver(['getItem'], 'rejects')
    const { provider } = await fixture({ storage: storage.driver })
    expect(await provider.isReady()).toBe(true)
    storage.down = true
    expect(await provider.isReady()).toBe(false)
  })
})
