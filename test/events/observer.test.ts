import { createHash } from 'node:crypto'
import { createProvider, type EndpointName, type Observer, type ProviderEvent } from '@grantry/core'
import { basic, type Credentials, mapDriver, read, storeGrant, type TestResponse } from '@grantry/testing'
import { exportJWK, generateKeyPair } from 'jose'
import { expect, test } from 'vitest'
import { api1, builtInPlugins, clients, redirectUri, scopes, testUsers, web, webJwt } from '../support/fixture.ts'

const { privateKey } = await generateKeyPair('EdDSA', { extractable: true })
const keys = [await exportJWK(privateKey)]

/**
 * Random bytes that are the same in every run, so that two runs can be compared byte for byte. Counted by length: only
 * ids of events draw more than 64 bytes.
 */
function countedBytes() {
  const counts = new Map<number, number>()
  return (length: number): Uint8Array<ArrayBuffer> => {
    const count = (counts.get(length) ?? 0) + 1
    counts.set(length, count)
    const block = (index: number) => createHash('sha512').update(`${length} ${count} ${index}`).digest()
    return new Uint8Array(
      Array.from({ length: Math.ceil(length / 64) }, (_, index) => [...block(index)])
        .flat()
        .slice(0, length),
    )
  }
}

/** Everything that is visible from outside in one scenario. Without the test provider, which observes by itself. */
async function responsesWith(observe?: Observer): Promise<readonly string[]> {
  const provider = await createProvider({
    issuer: 'https://id.example.com',
    keys,
    storage: mapDriver(),
    clients,
    scopes,
    users: testUsers().service,
    plugins: builtInPlugins,
    runtime: { now: () => 1_800_000_000, randomBytes: countedBytes() },
    ...(observe && { observe }),
  })
  const responses: string[] = []
  async function send(endpoint: EndpointName, init: RequestInit): Promise<TestResponse['body']> {
    const response = await read(await provider.handlers[endpoint](new Request('https://id.example.com/x', init)))
    responses.push(JSON.stringify({ ...response, headers: [...response.headers] }))
    return response.body
  }
  const post = (
    endpoint: EndpointName,
    form: Record<string, string>,
    as?: Credentials,
  ): Promise<TestResponse['body']> =>
    send(endpoint, {
      method: 'POST',
      body: new URLSearchParams(form),
      ...(as && { headers: { authorization: basic(as) } }),
    })

  const scope = 'api1'
  const code = await storeGrant(provider, {
    kind: 'code',
    clientId: 'web',
    redirectUri,
    scopes: ['openid', 'offline_access', 'api1'],
    subject: { sub: '1', amr: ['pwd'] },
  })
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
  const { access_token: token, id_token, refresh_token } = await post('token', form, web)
  await post('token', { grant_type: 'client_credentials', scope }, webJwt)
  await post('token', { grant_type: 'client_credentials', scope }, ['web', 'x'])
  await post('token', { grant_type: 'password', username: 'alice', password: 'x', scope }, web)
  await send('userinfo', { headers: { authorization: `Bearer ${token}` } })
  await send('userinfo', {})
  await post('accessTokenValidation', { token })
  await post('accessTokenValidation', { token: 'x' })
  await post('introspection', { token }, api1)
  await post('introspection', { token }, ['api1', 'x'])
  await post('identityTokenValidation', { token: id_token, client_id: 'web' })
  await post('token', { grant_type: 'refresh_token', refresh_token }, web)
  await post('token', { grant_type: 'refresh_token', refresh_token }, web)
  await post('token', form, web)
  await post('introspection', { token }, api1)
  return responses
}

test('10.1 the scenario of these tests succeeds and fails as it should', async () => {
  const statuses = (await responsesWith()).map((response) => JSON.parse(response).status)
  expect(statuses).toEqual([200, 200, 401, 400, 200, 401, 200, 400, 200, 401, 200, 200, 200, 400, 200])
  expect((await responsesWith()).at(-1)).toContain('"active":false')
})

test('10.1 an observer that throws has no effect, and still receives every later event', async () => {
  const received: string[] = []
  const quiet = await responsesWith(({ type }) => received.push(type))
  const heardByLoud: string[] = []
  const loud = await responsesWith(({ type }) => {
    heardByLoud.push(type)
    throw new Error('the log is full')
  })
  expect(loud).toEqual(quiet)
  expect(loud.join('')).not.toContain('the log is full')
  expect(heardByLoud).toEqual(received)
  expect(received.length).toBeGreaterThan(30)
})

test.each([undefined, null, 'text', 0])('10.1 an observer that throws %s has no effect', async (thrown) => {
  const loud = await responsesWith(() => {
    throw thrown
  })
  expect(loud).toEqual(await responsesWith())
})

test('10.1 ignores what an observer returns or does to its event', async () => {
  const meddling = await responsesWith(((event: ProviderEvent) => {
    for (const value of Object.values(event)) if (Array.isArray(value)) value.push('admin')
    Object.assign(event, { status: 500, sub: 'another', clientId: 'another', scopes: ['admin'], id: '', time: 0 })
    return new Response('mine')
  }) as unknown as Observer)
  expect(meddling).toEqual(await responsesWith())
})

// An async function is assignable to the observer type. An unhandled rejection ends a Node.js process: one failed log
// line would take down the service.
test('10.1 an observer that rejects later has no effect and leaves no unhandled rejection', async () => {
  const unhandled: unknown[] = []
  const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', onUnhandled)
  try {
    const loud = await responsesWith(async () => {
      throw new Error('the log is full')
    })
    // Node.js checks for unhandled rejections after the microtasks.
    await new Promise((resolve) => setImmediate(resolve))
    expect(loud).toEqual(await responsesWith())
    expect(unhandled.length).toBe(0)
  } finally {
    process.off('unhandledRejection', onUnhandled)
  }
})

test('10.1 an observer that never settles delays nothing', async () => {
  expect(await responsesWith(() => new Promise<void>(() => {}))).toEqual(await responsesWith())
})

test('10.1 rejects an observer that is not a function at start', async () => {
  await expect(responsesWith('console.log' as unknown as Observer)).rejects.toThrow(/observe must be a function/u)
})
