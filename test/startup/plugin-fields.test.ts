import {
  type Client,
  type ClientOptions,
  type ClientStore,
  createProvider,
  defineFields,
  definePlugin,
  hashSecret,
  OAuthError,
  type ScopeOptions,
  signingKeys,
} from '@grantry/core'
import { createTestProvider, testClient } from '@grantry/testing'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { testGrant } from '../support/test-grant.ts'

declare module '@grantry/core' {
  interface ClientMembers {
    testTier?: 'gold' | 'basic'
  }
  interface ScopeMembers {
    testOwner?: string | undefined
  }
  interface OAuthErrorCodes {
    test_tier_required: 403
  }
}

const tier = v.optional(v.picklist(['gold', 'basic'], 'must be "gold" or "basic"'), 'basic')
const fields = defineFields({
  client: { testTier: tier },
  scope: { testOwner: v.optional(v.string('must be a string')) },
  errors: { test_tier_required: 403 },
})

const seen: Client[] = []
const grant = testGrant({
  grantType: 'urn:example:tier',
  handle({ client, scopes }) {
    seen.push(client)
    if (client.testTier === 'gold') return { scopes }
    throw new OAuthError('test_tier_required', 'A gold client is required', { reason: 'plugin:tiers:basic' })
  },
})
const tiers = definePlugin('tiers', [fields, grant])

const client = (more: object = {}): ClientOptions => ({
  clientId: testClient[0],
  secrets: [hashSecret(testClient[1])],
  grantTypes: ['urn:example:tier'],
  scopes: ['api1'],
  ...more,
})

const start = (clients: readonly ClientOptions[] | ClientStore, scopes: readonly ScopeOptions[] = [{ name: 'api1' }]) =>
  createTestProvider({ plugins: [tiers], clients, scopes })

const form = { grant_type: 'urn:example:tier', scope: 'api1' }

describe('the members that a plugin adds to a client', () => {
  test.each([
    ['an array', (options: ClientOptions) => [options]],
    ['a client store', (options: ClientOptions): ClientStore => ({ find: () => options })],
  ])('reach the plugin with their defaults, from %s', async (_, clients) => {
    seen.length = 0
    const gold = await start(clients(client({ testTier: 'gold' })))
    expect((await gold.post('token', form, testClient)).status).toBe(200)
    const basic = await start(clients(client()))
    const { status, body } = await basic.post('token', form, testClient)
    expect([status, body]).toEqual([
      403,
      { error: 'test_tier_required', error_description: 'A gold client is required' },
    ])
    expect(seen.map(({ testTier }) => testTier)).toEqual(['gold', 'basic'])
  })

  test('are validated like those of the core', async () => {
    const wrong = { name: 'TypeError', message: 'clients[0] ("test-client"): testTier must be "gold" or "basic"' }
    await expect(start([client({ testTier: 'silver' })])).rejects.toMatchObject(wrong)
    const mistyped = 'clients[0] ("test-client"): testTeir is not a known option; did you mean testTier?'
    await expect(start([client({ testTeir: 'gold' })])).rejects.toMatchObject({ message: mistyped })
    const store = await start({ find: () => client({ testTier: 'silver' }) })
    expect((await store.post('token', form, testClient)).body).toEqual({ error: 'server_error' })
  })

  test('are unknown without the plugin', async () => {
    const withoutField = definePlugin('other', [grant])
    const message = /testTier is not a known option/u
    const started = createTestProvider({ plugins: [withoutField], clients: [client({ testTier: 'gold' })] })
    await expect(started).rejects.toThrow(message)
  })
})

describe('the members that a plugin adds to a scope', () => {
  test('are validated like those of the core', async () => {
    await expect(start([client()], [{ name: 'api1', testOwner: 'a' }])).resolves.toBeDefined()
    const message = 'scopes[0] ("api1"): testOwner must be a string'
    const wrong = [{ name: 'api1', testOwner: 1 }] as unknown as readonly ScopeOptions[]
    await expect(start([client()], wrong)).rejects.toMatchObject({ message })
  })
})

describe('an error code that a plugin adds', () => {
  test('is a server_error without the plugin, and the failure says how to declare it', async () => {
    const f = await createTestProvider({
      plugins: [definePlugin('other', [grant, defineFields({ client: { testTier: tier } })])],
      clients: [client()],
    })
    const { body, failure } = await f.post('token', form, testClient)
    expect(body).toEqual({ error: 'server_error' })
    expect(failure).toMatchObject({
      message: 'No plugin declares the error code test_tier_required; add it to errors of defineFields()',
      cause: { code: 'test_tier_required' },
    })
  })
})

describe('at startup', () => {
  const startWith = (...parts: Parameters<typeof defineFields>[0][]) =>
    createProvider({
      issuer: 'https://id.example.com',
      keys: signingKeys(),
      storage: { getItem: () => null, insertItem: () => true, incrementItem: () => 1 } as never,
      clients: [],
      plugins: parts.map((part, index) => definePlugin(`plugin-${index + 1}`, [defineFields(part)])),
    })

  const schema = v.optional(v.string())
  test('two plugins can define the same member of a client with the same schema', async () => {
    const fields = () => defineFields({ client: { jwks: schema } })
    const plugins = [definePlugin('plugin-1', [fields()]), definePlugin('plugin-2', [fields()])]
    await expect(createTestProvider({ plugins })).resolves.toBeDefined()
  })

  test.each<[string, string, readonly Parameters<typeof defineFields>[0][]]>([
    [
      'a client member of the core',
      'plugins: core and plugin-1 both define the member of a client secrets; remove one of them',
      [{ client: { secrets: schema } }],
    ],
    [
      'a scope member of the core',
      'plugins: core and plugin-1 both define the member of a scope audience; remove one of them',
      [{ scope: { audience: schema } }],
    ],
    [
      'a client member of another plugin, with another schema',
      'plugins: plugin-1 and plugin-2 both define the member of a client jwks; remove one of them, or give both the same options',
      [{ client: { jwks: schema } }, { client: { jwks: v.optional(v.string()) } }],
    ],
    [
      'an error code of the core',
      'plugins: core and plugin-1 both define the error code invalid_grant; remove one of them',
      [{ errors: { invalid_grant: 401 } }],
    ],
    [
      'an error code of another plugin',
      'plugins: plugin-1 and plugin-2 both define the error code odd; remove one of them, or give both the same options',
      [{ errors: { odd: 400 } }, { errors: { odd: 400 } }],
    ],
    [
      'another status',
      'plugins: the fields of plugin-1: errors.odd must be one of 400, 401, 403',
      [{ errors: { odd: 500 as 400 } }],
    ],
    ['a malformed name', 'plugins: plugin-1 has the invalid error code "Odd code"', [{ errors: { 'Odd code': 400 } }]],
    [
      'a member without a schema',
      'plugins: the fields of plugin-1: client.jwks must be a synchronous valibot schema',
      [{ client: { jwks: {} as never } }],
    ],
    [
      'an asynchronous schema',
      'plugins: the fields of plugin-1: client.jwks must be a synchronous valibot schema',
      [{ client: { jwks: v.pipeAsync(v.string()) as never } }],
    ],
  ])('rejects %s', async (_, message, parts) => {
    await expect(startWith(...parts)).rejects.toMatchObject({ name: 'TypeError', message })
  })
})
