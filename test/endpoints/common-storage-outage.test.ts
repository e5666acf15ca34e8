import type { AtomicDriver } from '@grantry/core'
import { mapDriver, type TestResponse } from '@grantry/testing'
import { describe, expect, test } from 'vitest'
import { api1, type Fixture, fixture, redirectUri, web, webJwt } from '../support/fixture.ts'

type Operation = 'getItem' | 'setItem' | 'insertItem' | 'commit'
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
    incrementItem: (key, options) => driver.incrementItem(key, options),
    replaceItem: (key, change) => driver.replaceItem(key, change),
    ...(operations.includes('commit') && {
      commit: (changes) => (state.down ? fail() : (driver.commit?.(changes) ?? [])),
    }),
  }
  return state
}

function expectUnavailable({ status, body, headers }: TestResponse, f: Fixture): void {
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

describe('an unreachable storage', () => {
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
    ['authorization_code', 'commit', 'throws'],
    ['authorization_code', 'commit', 'returns an error'],
    ['refresh_token', 'commit', 'rejects'],
    ['refresh_token', 'getItem', 'throws'],
    ['refresh_token', 'setItem', 'rejects'],
    ['refresh_token', 'insertItem', 'rejects'],
  ])('1.21 the grant %s returns 503 when %s %s, and works again afterwards', async (grant, operation, outage) => {
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
    const send = (): Promise<TestResponse> =>
      endpoint === 'userinfo'
        ? f.get('userinfo', {}, { authorization: `Bearer ${token}` })
        : f.post(endpoint, { token }, endpoint === 'introspection' ? api1 : undefined)
    storage.down = true
    expectUnavailable(await send(), f)
    storage.down = false
    expect((await send()).status).toBe(200)
  })

  test('1.21 does not accept a self-contained token of a family while its revocation cannot be read', async () => {
    const storage = failingDriver(['getItem'], 'rejects')
    const f = await fixture({ storage: storage.driver })
    const code = await f.code({ clientId: webJwt[0] })
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    const { body } = await f.post('token', form, webJwt)
    storage.down = true
    expectUnavailable(await f.post('accessTokenValidation', { token: body.access_token }), f)
  })

  test('1.21 issues a self-contained token without storage; its revocation cannot be read', async () => {
    const storage = failingDriver(['getItem', 'setItem', 'insertItem'], 'rejects')
    const f = await fixture({ storage: storage.driver })
    storage.down = true
    const { status, body } = await f.post('token', clientForm, webJwt)
    expect(status).toBe(200)
    expectUnavailable(await f.post('accessTokenValidation', { token: body.access_token }), f)
    expect((await f.get('discovery')).status).toBe(200)
    expect((await f.post('token', clientForm, ['web', 'wrong'])).status).toBe(401)
  })

  test('1.21 the readiness probe reports the outage', async () => {
    const storage = failingDriver(['getItem'], 'rejects')
    const { provider } = await fixture({ storage: storage.driver })
    expect(await provider.isReady()).toBe(true)
    storage.down = true
    expect(await provider.isReady()).toBe(false)
  })

  describe('a storage that can be read but not written', () => {
    async function full() {
      const storage = failingDriver(['setItem', 'insertItem'], 'rejects')
      let writes = 0
      let ticks = 0
      const driver = {
        ...storage.driver,
        setItem: (...args: Parameters<typeof storage.driver.setItem>) => {
          writes += 1
          return storage.driver.setItem(...args)
        },
      }
      const f = await fixture({ storage: driver, runtime: { elapsed: () => ticks } })
      const fail = async () => {
        storage.down = true
        expectUnavailable(await f.post('token', clientForm, web), f)
      }
      const tick = (milliseconds: number): void => {
        ticks += milliseconds
      }
      return { f, storage, fail, tick, writes: () => writes }
    }

    test('1.21 is not ready after a failed write, until a write succeeds again', async () => {
      const { f, storage, fail, tick } = await full()
      storage.down = true
      // Not known yet: the probe does not write when no write has failed.
      expect(await f.provider.isReady()).toBe(true)
      await fail()
      expect(await f.provider.isReady()).toBe(false)
      tick(1000)
      expect(await f.provider.isReady()).toBe(false)
      storage.down = false
      tick(1000)
      expect(await f.provider.isReady()).toBe(true)
    })

    test('1.21 is not ready while only some writes succeed: a nearly full disk accepts small ones', async () => {
      const { f, storage, fail, tick } = await full()
      await fail()
      const { setItem } = storage.driver
      storage.down = false
      storage.driver.setItem = async (key, value, options) => {
        if (value.length > 8000) throw new Error('no space left')
        return setItem(key, value, options)
      }
      expect((await f.post('token', clientForm, web)).status).toBe(200)
      tick(1000)
      expect(await f.provider.isReady()).toBe(false)
      storage.driver.setItem = setItem
      tick(1000)
      expect(await f.provider.isReady()).toBe(true)
    })

    test('1.21 concurrent probes share one test write per second, and none happens while the storage works', async () => {
      const { f, storage, fail, tick, writes } = await full()
      const asked = async () => {
        const before = writes()
        await Promise.all(Array.from({ length: 50 }, () => f.provider.isReady()))
        return writes() - before
      }
      expect(await asked()).toBe(0)
      await fail()
      expect([await asked(), await asked()]).toEqual([1, 0])
      tick(1000)
      expect(await asked()).toBe(1)
      storage.down = false
      tick(1000)
      expect([await asked(), await asked()]).toEqual([1, 0])
      expect(await f.provider.isReady()).toBe(true)
      expect(await storage.driver.getItem('probe:ready')).toBeNull()
    })
  })
})
