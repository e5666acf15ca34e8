import { generateKeyPairSync } from 'node:crypto'
import { createProvider } from '@grantry/core'
import { clientCredentials } from '@grantry/plugins/client-credentials'
import { refreshToken } from '@grantry/plugins/refresh-token'
import { basic, mapDriver, read, sha256Of } from '@grantry/testing'
import { beforeAll, describe, expect, test } from 'vitest'

const jwk = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })

/** Options that are mutable at every depth, as parsed from a file. */
const writable = () => ({
  issuer: 'https://id.example.com',
  keys: [{ ...jwk, kid: 'first' }],
  storage: mapDriver(),
  clients: [
    {
      clientId: 'web',
      secrets: [{ sha256: sha256Of('web-secret'), expiresAt: 4_000_000_000 }],
      grantTypes: ['client_credentials'],
      scopes: ['api1'],
      allowedCorsOrigins: ['https://web.example.com'],
      accessTokenLifetime: 600,
      enabled: true,
    },
  ],
  scopes: [{ name: 'api1', audience: 'https://api1.example.com', enabled: true }],
  plugins: [[clientCredentials()]],
  endpoints: { userinfo: false } as Record<string, boolean | `/${string}`>,
  introspection: { unrelatedScope: 'inactive' as 'inactive' | 'unauthorized' },
  runtime: { now: () => 1_800_000_000 },
})

type Options = ReturnType<typeof writable>

const request = (secret: string, scope = 'api1') =>
  new Request('https://id.example.com/connect/token', {
    method: 'POST',
    headers: { authorization: basic(['web', secret]), origin: 'https://web.example.com' },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope }),
  })

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const part of Object.values(value)) freeze(part)
}

/** Everything that a mutation could have changed, as clients see it. */
async function observed(options: Options, then: (options: Options) => void) {
  const provider = await createProvider(options)
  then(options)
  const discovery = await read(await provider.handlers.discovery(new Request('https://id.example.com/d')))
  const jwks = await read(await provider.handlers.jwks(new Request('https://id.example.com/j')))
  const token = await read(await provider.fetch(request('web-secret')))
  const foreign = await read(await provider.fetch(request('changed-secret')))
  const claims = JSON.parse(atob(token.body.access_token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/')))
  return {
    discovery: discovery.body,
    jwks: jwks.body,
    cors: token.headers.get('access-control-allow-origin'),
    token: { ...token.body, access_token: undefined },
    claims: { ...claims, jti: undefined },
    foreign: foreign.status,
    userinfo: (await provider.handlers.userinfo(new Request('https://id.example.com/u'))).status,
    grantTypes: provider.grantTypes,
  }
}

describe('options are read once', () => {
  let untouched: Awaited<ReturnType<typeof observed>>

  beforeAll(async () => {
    untouched = await observed(writable(), () => {})
    expect(untouched).toMatchObject({ foreign: 401, userinfo: 404, cors: 'https://web.example.com' })
    expect(untouched.claims).toMatchObject({ aud: 'https://api1.example.com', iat: 1_800_000_000 })
  })

  const mutations: readonly [what: string, mutate: (options: Options) => void][] = [
    ['the issuer', (options) => void Object.assign(options, { issuer: 'https://attacker.example.com' })],
    ['the keys', (options) => void options.keys.splice(0, 1)],
    ['a key', (options) => void Object.assign(options.keys[0] ?? {}, { kid: 'changed', x: '', d: '' })],
    ['the list of clients', (options) => void options.clients.splice(0, 1)],
    ['whether a client is enabled', (options) => void Object.assign(options.clients[0] ?? {}, { enabled: false })],
    ['the lifetime of a client', (options) => void Object.assign(options.clients[0] ?? {}, { accessTokenLifetime: 5 })],
    ['the grant types of a client', (options) => void options.clients[0]?.grantTypes.splice(0, 1)],
    ['the scopes of a client', (options) => void options.clients[0]?.scopes.splice(0, 1)],
    ['the origins of a client', (options) => void options.clients[0]?.allowedCorsOrigins.splice(0, 1)],
    [
      'the secrets of a client',
      (options) => void options.clients[0]?.secrets.push({ sha256: sha256Of('changed-secret'), expiresAt: 4e9 }),
    ],
    [
      'a secret of a client',
      (options) => void Object.assign(options.clients[0]?.secrets[0] ?? {}, { sha256: sha256Of('changed-secret') }),
    ],
    ['the list of scopes', (options) => void options.scopes.splice(0, 1)],
    ['a scope', (options) => void Object.assign(options.scopes[0] ?? {}, { enabled: false, audience: 'changed' })],
    ['the list of plugins', (options) => void options.plugins.push([refreshToken()])],
    ['a nested list of plugins', (options) => void options.plugins[0]?.splice(0, 1)],
    ['the endpoints', (options) => void Object.assign(options.endpoints, { userinfo: true, token: false })],
    ['the clock', (options) => void Object.assign(options.runtime, { now: () => 5 })],
  ]
  test.each(mutations)('a later change of %s has no effect', async (_what, mutate) => {
    expect(await observed(writable(), mutate)).toEqual(untouched)
  })

  test('options are never modified: frozen ones work, others stay unchanged', async () => {
    const options = writable()
    const { storage: _storage, plugins: _plugins, ...data } = options
    const before = structuredClone({ ...data, runtime: undefined })
    freeze(data)
    freeze(options.plugins)
    expect(await observed(Object.freeze(options), () => {})).toEqual(untouched)

    const loose = writable()
    await createProvider(loose)
    const { storage: _driver, plugins: _list, ...after } = loose
    expect({ ...after, runtime: undefined }).toEqual(before)
  })

  test('the provider itself is immutable', async () => {
    const provider = await createProvider(writable())
    expect(Object.isFrozen(provider)).toBe(true)
    expect(Object.isFrozen(provider.handlers)).toBe(true)
  })
})
