import { expect, test } from 'vitest'
import { createResourceServer } from '../../packages/resource-server/src/index.ts'
import { bearing, createApi, createIssuer, issuer, jwksUri, keyNamed, metadataUrl, sign, start } from './issuer.ts'

// The keys that an issuer publishes, and its metadata.

const [firstKey, secondKey, thirdKey] = [await keyNamed('one'), await keyNamed('two'), await keyNamed('three')]
const json = (value: unknown) => () => Response.json(value)
const longLived = { exp: start + 1_000_000 }

test('concurrent requests share one fetch of the metadata and of the keys', async () => {
  const { test: t, api } = await createApi()
  const token = await sign(firstKey)
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => api.authorize(bearing(token))))
  expect(outcomes.filter(({ token }) => token !== undefined)).toHaveLength(50)
  expect(t.fetched).toEqual([metadataUrl, jwksUri])
})

test('a rotated key is found by one fetch for many requests', async () => {
  const { test: t, api } = await createApi()
  await api.authorize(bearing(await sign(firstKey)))
  t.now += 30
  t.published = [firstKey.jwk, secondKey.jwk]
  const token = await sign(secondKey)
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => api.authorize(bearing(token))))
  expect(outcomes.filter(({ token }) => token !== undefined)).toHaveLength(50)
  expect(t.fetched.filter((url) => url === jwksUri)).toHaveLength(2)
})

test('a key that replaces another one without ids is found', async () => {
  const { test: t, api } = await createApi()
  const anonymous = ({ jwk: { kid: _, ...rest } }: typeof firstKey) => rest
  t.published = [anonymous(firstKey)]
  expect((await api.authorize(bearing(await sign(firstKey, {}, { kid: undefined })))).reason).toBeUndefined()
  t.now += 30
  t.published = [anonymous(secondKey), anonymous(thirdKey)]
  for (const key of [secondKey, thirdKey]) {
    expect((await api.authorize(bearing(await sign(key, {}, { kid: undefined })))).reason).toBeUndefined()
  }
})

test('tokens with unknown keys cause one fetch in 30 seconds', async () => {
  const { test: t, api } = await createApi()
  await api.authorize(bearing(await sign(firstKey)))
  for (let second = 0; second < 60; second++) {
    t.now += 1
    const { response, reason } = await api.authorize(bearing(await sign(secondKey)))
    expect([response?.status, reason]).toEqual([401, 'key_unknown'])
  }
  expect(t.fetched.filter((url) => url === jwksUri)).toHaveLength(3)
  expect((await api.authorize(bearing(await sign(firstKey)))).reason).toBeUndefined()
})

test('a removed key is refused after maxAge', async () => {
  const { test: t, api } = await createApi()
  const token = await sign(firstKey, longLived)
  expect((await api.authorize(bearing(token))).reason).toBeUndefined()
  t.published = [secondKey.jwk]
  t.now += 599
  expect((await api.authorize(bearing(token))).reason).toBeUndefined()
  t.now += 1
  expect((await api.authorize(bearing(token))).reason).toBe('key_unknown')
})

test('remembered keys are used for an hour while the issuer does not respond, then requests get 503', async () => {
  const causes: unknown[] = []
  const { test: t, api } = await createApi({ onRefusal: ({ cause }) => void causes.push(cause) })
  const token = await sign(firstKey, longLived)
  await api.authorize(bearing(token))
  t.responses.set(jwksUri, () => new Response('down', { status: 500 }))
  t.now += 600
  expect((await api.authorize(bearing(token))).reason).toBeUndefined()
  t.now += 3600
  const { response, reason } = await api.authorize(bearing(token))
  expect([response?.status, reason]).toEqual([503, 'keys_unavailable'])
  expect(response?.headers.get('www-authenticate')).toBeNull()
  expect(causes).toEqual([new Error(`${jwksUri} cannot be used: it responded with the status 500`)])
})

test('an issuer that does not respond gets one request in 5 seconds, and works when it is back', async () => {
  const { test: t, api } = await createApi()
  const metadata = t.responses.get(metadataUrl)
  t.responses.delete(metadataUrl)
  const token = await sign(firstKey)
  for (let i = 0; i < 10; i++) expect((await api.authorize(bearing(token))).response?.status).toBe(503)
  expect(t.fetched).toEqual([metadataUrl, `${issuer}/.well-known/oauth-authorization-server`])
  t.responses.set(metadataUrl, metadata ?? json({}))
  t.now += 5
  expect((await api.authorize(bearing(token))).reason).toBeUndefined()
})

test('an attempt that is still waiting is not repeated', async () => {
  const { test: t, api } = await createApi()
  const token = await sign(firstKey)
  let respond: (response: Response) => void = () => {}
  t.responses.set(jwksUri, () => new Promise((resolve) => (respond = resolve)))
  const first = api.authorize(bearing(token))
  while (!t.fetched.includes(jwksUri)) await new Promise(setImmediate)
  t.now += 19
  const second = api.authorize(bearing(token))
  // Longer than a fetch needs to start.
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
  respond(Response.json({ keys: t.published }))
  expect([(await first).reason, (await second).reason]).toEqual([undefined, undefined])
  expect(t.fetched.filter((url) => url === jwksUri)).toHaveLength(1)
})

test('an issuer that hangs ends in 503, also if the fetch ignores the signal', async () => {
  const { api } = await createApi({ timeout: 0.05, fetch: () => new Promise(() => {}) })
  expect((await api.authorize(bearing(await sign(firstKey)))).reason).toBe('keys_unavailable')
})

test.each<[string, (init: RequestInit) => Response]>([
  ['a redirect', () => new Response(null, { status: 302, headers: { location: 'https://evil.example/keys' } })],
  ['something other than JSON', () => new Response('<html>')],
  ['an array', json([])],
  ['no keys', json({})],
  ['keys that are not an array', json({ keys: {} })],
  ['an endless body', () => new Response(new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(65_536)) }))],
])('keys that are %s make the keys unavailable', async (_, response) => {
  const { test: t, api } = await createApi()
  t.responses.set(jwksUri, response)
  expect((await api.authorize(bearing(await sign(firstKey)))).reason).toBe('keys_unavailable')
})

test('keys that cannot be used are ignored', async () => {
  const { test: t, api } = await createApi()
  t.responses.set(jwksUri, json({ keys: [null, 7, {}, { kty: 'EC', kid: 'x' }, { kty: 'new' }, firstKey.jwk] }))
  expect((await api.authorize(bearing(await sign(firstKey)))).reason).toBeUndefined()
})

test('no redirect is followed', async () => {
  const modes: unknown[] = []
  const { test: t, api } = await createApi()
  const { fetch } = t.options
  const observed = createResourceServer({
    ...t.options,
    fetch: async (url, init) => {
      modes.push(init.redirect)
      return (await fetch?.(url, init)) ?? new Response()
    },
  })
  await Promise.all([api, observed].map(async (each) => each.authorize(bearing(await sign(firstKey)))))
  expect(modes).toEqual(['manual', 'manual'])
})

test.each([
  ['of another issuer', { issuer: 'https://evil.example', jwks_uri: jwksUri }],
  ['without issuer', { jwks_uri: jwksUri }],
  ['without jwks_uri', { issuer }],
  ['with keys without https', { issuer, jwks_uri: 'http://issuer.example/keys' }],
  ['with keys in a file', { issuer, jwks_uri: 'file:///keys' }],
])('metadata %s is not used', async (_, metadata) => {
  const { test: t, api } = await createApi()
  t.responses.set(metadataUrl, json(metadata))
  expect((await api.authorize(bearing(await sign(firstKey)))).reason).toBe('keys_unavailable')
  expect(t.fetched).toEqual([metadataUrl])
})

test('the metadata of RFC 8414 is used if there is none of OpenID Connect; a path comes last', async () => {
  const { options, responses, fetched } = await createIssuer()
  const tenant = `${issuer}/tenant`
  const uri = 'https://issuer.example/.well-known/oauth-authorization-server/tenant'
  responses.set(uri, json({ issuer: tenant, jwks_uri: jwksUri }))
  const api = createResourceServer({ ...options, issuer: tenant })
  expect((await api.authorize(bearing(await sign(firstKey, { iss: tenant })))).reason).toBeUndefined()
  expect(fetched).toEqual([`${tenant}/.well-known/openid-configuration`, uri, jwksUri])
})
